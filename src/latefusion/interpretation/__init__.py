"""Results of a fitted model as plain data: profiles of clusters, importance of views, warnings."""

from latefusion.interpretation.features import Features
from latefusion.interpretation.importance import Explanation, explain_views
from latefusion.interpretation.outcomes import Outcome, outcome
from latefusion.interpretation.profiles import Trait, features_of

__all__ = ["Explanation", "Features", "Outcome", "Trait", "explain_views", "features_of", "outcome"]
