"""How many examples a property is tried on: few and the same every time, or many that are new every time.

``LATEFUSION_EXAMPLES=50 pytest …`` tries fifty times as many as usual, drawn anew; ``make test-nightly`` does so.
"""

import os

from hypothesis import HealthCheck, settings

FACTOR = int(os.environ.get("LATEFUSION_EXAMPLES", "1"))


def examples(number):
    """Decorator of a property: try it on that many examples, times what the environment asks for."""
    return settings(
        max_examples=number * FACTOR,
        deadline=None,
        derandomize=FACTOR == 1,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def checks_that_need_a_classifier(estimator):
    """Checks of scikit-learn that a clusterer with `predict_proba` cannot pass, and why."""
    reason = "the check expects a column of predict_proba for every class of y, and the columns are clusters"
    return dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), reason)
