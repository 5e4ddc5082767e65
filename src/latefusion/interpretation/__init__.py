"""Results of a fitted model as plain data: profiles of clusters, outcomes, importance of views, warnings."""

from latefusion.interpretation.class_table import ClassTable, class_table
from latefusion.interpretation.cluster_profiles import Profiles, profiles
from latefusion.interpretation.features import Features
from latefusion.interpretation.importance import Explanation, explain_views
from latefusion.interpretation.outcomes import Outcome, outcome
from latefusion.interpretation.traits import Trait, features_of

__all__ = [
    "ClassTable",
    "Explanation",
    "Features",
    "Outcome",
    "Profiles",
    "Trait",
    "class_table",
    "explain_views",
    "features_of",
    "outcome",
    "profiles",
]
