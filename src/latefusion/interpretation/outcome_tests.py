"""Tests of one clustering against all columns of a table of outcomes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latefusion.interpretation.outcome_table import OutcomeColumn, OutcomeTable, SurvivalTimes
from latefusion.interpretation.shown_values import shown_value
from latefusion.metrics import (
    HazardRatio,
    KaplanMeier,
    LogRank,
    category_test,
    hazard_ratio,
    kaplan_meier,
    logrank_test,
    rank_test,
)
from latefusion.metrics.permutations import Relabelings, relabel

SURVIVAL = "survival"
# Names of the tests and of their effect sizes.
LOG_RANK = "log-rank"
TWO_BY_TWO, CATEGORIES, NUMBERS = "Fisher", "Fisher–Freeman–Halton", "Kruskal–Wallis"
CRAMER, EPSILON = "Cramér's V", "epsilon²"
HAZARD, ODDS, AREA = "hazard ratio", "odds ratio", "AUC"


class ColumnTest(NamedTuple):
    """The test of one column. Everything that is not defined is NaN.

    Attributes
    ----------
    column : str
    kind : str
        "survival", or the kind of the column.
    test : str
    statistic, effect, p : float
    measure : str
        Name of the effect size.
    n_samples : int
        Samples that have a cluster and a value.
    """

    column: str
    kind: str
    test: str
    statistic: float
    effect: float
    measure: str
    p: float
    n_samples: int


class ClusterFinding(NamedTuple):
    """One cluster compared with all other samples in one column.

    Attributes
    ----------
    cluster : object
    column : str
    value : str
        The category; empty for numbers and survival.
    inside, outside : str
        Medians, shares or median survival.
    measure : {"hazard ratio", "odds ratio", "AUC"}
    effect : float
    lower, upper : float
        95 % interval of a hazard ratio.
    p : float
        By permutation for survival and numbers; of over-representation for categories.
    """

    cluster: Any
    column: str
    value: str
    inside: str
    outside: str
    measure: str
    effect: float
    lower: float
    upper: float
    p: float


class SurvivalCurves(NamedTuple):
    """Survival of the clusters.

    Attributes
    ----------
    curves : dict of object to KaplanMeier
        By cluster.
    hazard_ratios : dict of object to HazardRatio
        Of every cluster against all other samples.
    test : LogRank or None
        None if fewer than two clusters have samples with known survival.
    time_name, event_name : str
        Columns of the table.
    """

    curves: dict[Any, KaplanMeier]
    hazard_ratios: dict[Any, HazardRatio]
    test: LogRank | None
    time_name: str
    event_name: str

    @property
    def p(self) -> float:
        """Permutation p of the log-rank test."""
        return np.nan if self.test is None else self.test.p_value


class Clustering(NamedTuple):
    """Clusters of all samples of a table.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        Positions in `clusters`, -1 for samples without a cluster.
    clusters : tuple
        Names of the clusters, sorted.
    """

    codes: NDArray[np.intp]
    clusters: tuple[Any, ...]

    @property
    def assigned(self) -> NDArray[np.bool_]:
        """Samples that have a cluster."""
        return np.asarray(self.codes >= 0)


class OutcomeTester:
    """Tests of one clustering, which share the permutations of equal sets of samples.

    Parameters
    ----------
    clustering : Clustering
    n_permutations : int
    seed : int
    """

    def __init__(self, clustering: Clustering, n_permutations: int, seed: int) -> None:
        self.clustering = clustering
        self.n_permutations = n_permutations
        self.seed = seed
        self._permuted: dict[bytes, Relabelings] = {}

    def survival(self, times: SurvivalTimes) -> tuple[SurvivalCurves, ColumnTest, list[ClusterFinding]]:
        """Curves, log-rank test and hazard ratios.

        Parameters
        ----------
        times : SurvivalTimes

        Returns
        -------
        curves : SurvivalCurves
        test : ColumnTest
        findings : list of ClusterFinding
        """
        known = self.clustering.assigned & ~np.isnan(times.time)
        codes, clusters, relabelings = self._known(known)
        time, event = times.time[known], times.event[known]
        curves = {name: kaplan_meier(time[codes == code], event[codes == code]) for code, name in enumerate(clusters)}
        if len(clusters) < 2:
            nothing = ColumnTest(SURVIVAL, SURVIVAL, LOG_RANK, np.nan, np.nan, "", np.nan, len(codes))
            return SurvivalCurves(curves, {}, None, times.time_name, times.event_name), nothing, []
        test = logrank_test(time, event, codes, relabelings=relabelings)
        ratios = {name: hazard_ratio(time, event, codes == code) for code, name in enumerate(clusters)}
        findings = []
        for code, (name, ratio) in enumerate(ratios.items()):
            outside = kaplan_meier(time[codes != code], event[codes != code]).median
            own, rest = _shown_time(curves[name].median), _shown_time(outside)
            p = float(test.group_p_values[code])
            findings.append(ClusterFinding(name, SURVIVAL, "", own, rest, HAZARD, *ratio, p))
        shown = ColumnTest(SURVIVAL, SURVIVAL, LOG_RANK, test.statistic, np.nan, "", test.p_value, len(codes))
        return SurvivalCurves(curves, ratios, test, times.time_name, times.event_name), shown, findings

    def column(self, column: OutcomeColumn) -> tuple[ColumnTest, list[ClusterFinding]]:
        """The test of a column, and how every cluster differs from the others.

        Parameters
        ----------
        column : OutcomeColumn

        Returns
        -------
        test : ColumnTest
        findings : list of ClusterFinding
        """
        known = self.clustering.assigned & column.known
        codes, clusters, relabelings = self._known(known)
        values, is_category = column.values[known], column.kind == "category"
        if len(clusters) < 2:
            name, measure = (CATEGORIES, CRAMER) if is_category else (NUMBERS, EPSILON)
            return ColumnTest(column.name, column.kind, name, np.nan, np.nan, measure, np.nan, len(codes)), []
        if is_category:
            return self._category(column, codes, clusters, values, relabelings)
        found = rank_test(codes, values, relabelings=relabelings)
        test = ColumnTest(
            column.name, column.kind, NUMBERS, found.statistic, found.effect, EPSILON, found.p_value, len(codes)
        )
        findings = []
        for code, name in enumerate(clusters):
            own, rest = (_shown_median(column, values[side]) for side in (codes == code, codes != code))
            area, p = float(found.areas[code]), float(found.area_p_values[code])
            findings.append(ClusterFinding(name, column.name, "", own, rest, AREA, area, np.nan, np.nan, p))
        return test, findings

    def _category(
        self,
        column: OutcomeColumn,
        codes: NDArray[np.intp],
        clusters: list[Any],
        values: NDArray[np.intp],
        relabelings: Relabelings,
    ) -> tuple[ColumnTest, list[ClusterFinding]]:
        present, levels = np.unique(values, return_inverse=True)
        found = category_test(codes, levels, relabelings=relabelings)
        name = TWO_BY_TWO if found.counts.shape == (2, 2) else CATEGORIES
        test = ColumnTest(
            column.name, column.kind, name, found.statistic, found.effect, CRAMER, found.p_value, len(codes)
        )
        sizes, totals = found.counts.sum(axis=1), found.counts.sum(axis=0)
        findings = []
        for code, cluster in enumerate(clusters):
            for level, position in enumerate(present if len(present) > 1 else ()):
                inside = found.counts[code, level] / sizes[code]
                rest = (totals[level] - found.counts[code, level]) / max(1, len(codes) - sizes[code])
                odds, p = float(found.odds_ratios[code, level]), float(found.over_p_values[code, level])
                level_name, own, outside = column.levels[position], f"{inside:.0%}", f"{rest:.0%}"
                findings.append(
                    ClusterFinding(cluster, column.name, level_name, own, outside, ODDS, odds, np.nan, np.nan, p)
                )
        return test, findings

    def _known(self, known: NDArray[np.bool_]) -> tuple[NDArray[np.intp], list[Any], Relabelings]:
        """Clusters of some samples without gaps in their numbers, their names, and permutations."""
        present, codes = np.unique(self.clustering.codes[known], return_inverse=True)
        key = known.tobytes()
        if key not in self._permuted:
            self._permuted = {key: relabel(codes, self.n_permutations, self.seed)}  # the last one only, for memory
        return codes, [self.clustering.clusters[code] for code in present], self._permuted[key]


def clustering_of(labels: Any) -> Clustering:
    """Clusters as numbers; -1, None and NaN are samples without a cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)

    Returns
    -------
    Clustering
    """
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"Labels must be one value per sample; got an array of shape {values.shape}.")
    missing = np.array([one is None or one != one or one == -1 for one in values.tolist()], dtype=bool)
    codes = np.full(len(values), -1, dtype=np.intp)
    names = np.zeros(0)
    if not missing.all():
        known = values[~missing]
        known = known.astype(str) if known.dtype == object else known
        names, codes[~missing] = np.unique(known, return_inverse=True)
    return Clustering(
        codes, tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in names.tolist())
    )


def run_tests(
    tester: OutcomeTester, table: OutcomeTable
) -> tuple[SurvivalCurves | None, list[ColumnTest], list[ClusterFinding]]:
    """The tests of all columns, survival first."""
    curves, tests, findings = None, [], []
    if table.survival is not None:
        curves, test, found = tester.survival(table.survival)
        tests, findings = [test], list(found)
    for column in table.columns:
        test, found = tester.column(column)
        tests.append(test)
        findings += found
    return curves, tests, findings


def _shown_time(time: float) -> str:
    return "not reached" if np.isinf(time) else f"{time:.4g}" if time < 1000 else f"{time:.0f}"


def _shown_median(column: OutcomeColumn, values: NDArray[np.float64]) -> str:
    if not len(values):
        return "–"
    median = float(np.median(values))
    return shown_value(np.floor(median) if column.kind == "date" else median, column.kind, column.unit)
