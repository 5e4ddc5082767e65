"""Results of a fitted model as plain data: profiles of clusters, importance of views, warnings."""

from latefusion.interpretation.cluster_profiles import Profiles, profiles
from latefusion.interpretation.features import Features
from latefusion.interpretation.importance import Explanation, explain_views
from latefusion.interpretation.traits import Trait, features_of

__all__ = ["Explanation", "Features", "Profiles", "Trait", "explain_views", "features_of", "profiles"]
