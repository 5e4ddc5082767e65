"""What the words of the leaderboard mean, and how each figure was made."""

from __future__ import annotations

ORACLE = (
    "The best of the grid, chosen with the known classes. Nobody has the classes in practice, so this is an upper "
    "bound, not a result."
)
TERMS = {
    "place": "Number of methods with a better mean rank, plus one.",
    "method": "With a link to all its results.",
    "year": "Year of publication.",
    "mean rank": "On every data set the method with the best score has rank 1, and equal scores share the mean of "
    "their ranks. Methods without a result share the last ranks. The mean over the data sets is shown.",
    "rank": "Rank by ACC among all methods of the board on this data set; equal scores share the mean of their ranks.",
    "ACC": "Accuracy: share of the samples in the class of their cluster, if every cluster is matched with one class.",
    "NMI": "Mutual information of clusters and classes, divided by the mean of their entropies: from 0 (independent) "
    "to 1 (equal).",
    "ARI": "Adjusted Rand index: agreement of clusters and classes about pairs of samples. 1 if equal, 0 for chance.",
    "won / tied / lost": "Number of data sets on which the method is better than, equal to and worse than the best "
    "method of this package on the board.",
    "results": "Number of data sets with a result. Means and medians use these only, so they do not compare with those "
    "of a method that has more. They are grey then.",
    "seconds": "Median time of one fit.",
    "MiB": "Peak memory of one fit, beyond that of the loaded data.",
    "oracle ACC": ORACLE,
    "oracle": ORACLE,
}
FIGURES = {
    "ranking": "Every method gets the views as they are, the number of classes and its default parameters. Scores are "
    "means over the seeds. Ranks are computed per data set and averaged over the data sets of the board.",
    "differences": "Mean ranks over all data sets of the board. The Friedman test asks whether all methods are equally "
    "good; by the Nemenyi test two methods differ significantly (level 5 %) if their mean ranks differ by more than "
    "the critical difference.",
    "verdict": "Wilcoxon signed-rank tests of the scores over all data sets of the board, two-sided, one per other "
    "method. P-values are adjusted for the number of tests by the method of Holm. Without a result a method is worse "
    "than with any.",
    "times": "Time of one fit: median over the seeds, then median over the data sets with a result.",
    "matrix": "100 times the score, mean over the seeds. The colour is the rank on the data set: the darker, the "
    "better.",
}
