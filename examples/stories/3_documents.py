"""
Documents with several embeddings
=================================

A text can be turned into numbers in many ways: weighted words, latent topics, averaged word vectors. It is unknown in
advance which is best. Late fusion clusters the texts in each embedding and aligns the results.

The documents are the docstrings of SciPy, which is installed wherever this page runs. The module is the topic; it is
used for scores only. Other versions of SciPy have other docstrings, so the numbers differ slightly between
installations.

An earlier version of this page used selected modules and at most a hundred texts of each, chosen after looking at the
scores, which made every method look better. This version uses all texts of all modules that are large enough.
"""

# %%
# The corpus
# ----------
import inspect
import re
import warnings

import numpy as np
import scipy
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

import latefusion as lf
from latefusion.plots import ConsensusDisplay, ViewWeightsDisplay

# sphinx_gallery_thumbnail_number = 2
LEAST_WORDS, LEAST_TEXTS = 80, 50


def docstrings(module):
    """Distinct docstrings, long enough to be about something, of what a module offers."""
    offered = getattr(module, "__all__", [])
    texts = {inspect.getdoc(getattr(module, name, None)) or "" for name in offered}
    return sorted(text for text in texts if len(text.split()) >= LEAST_WORDS)


with warnings.catch_warnings(action="ignore"):  # SciPy warns about deprecated modules
    modules = {name: getattr(scipy, name) for name in scipy.__all__}
corpus = {name: docstrings(module) for name, module in modules.items() if inspect.ismodule(module)}
corpus = {name: own for name, own in corpus.items() if len(own) >= LEAST_TEXTS}
texts = [text for own in corpus.values() for text in own]
topics = np.repeat(list(corpus), [len(own) for own in corpus.values()])
print({name: len(own) for name, own in corpus.items()})

# %%
# Three embeddings
# ----------------
# Weighted words, which stay a sparse matrix:
words = {"stop_words": "english", "token_pattern": r"(?u)\b[a-z]{3,}\b"}
vectorizer = TfidfVectorizer(min_df=5, max_df=0.3, sublinear_tf=True, **words)
tfidf = vectorizer.fit_transform(texts)

# %%
# Latent semantic analysis of words and pairs of words:
pairs = TfidfVectorizer(min_df=3, max_df=0.3, sublinear_tf=True, ngram_range=(1, 2), **words)
lsa = TruncatedSVD(60, random_state=0).fit_transform(pairs.fit_transform(texts))

# %%
# Word vectors learnt from the corpus itself: words that stand in the same paragraphs more often than chance are near
# each other (positive pointwise mutual information, factorised). A document is the mean of its words.
paragraphs = [paragraph for text in texts for paragraph in re.split(r"\n\s*\n", text)]
counter = CountVectorizer(vocabulary=vectorizer.vocabulary_, binary=True, **words)
occurs = counter.fit_transform(paragraphs)
together = (occurs.T @ occurs).toarray().astype(float)
np.fill_diagonal(together, 0.0)
expected = np.outer(together.sum(axis=0), together.sum(axis=0)) / together.sum()
information = np.log(np.maximum(together, 1e-300) / np.maximum(expected, 1e-300))
factors = TruncatedSVD(100, random_state=0).fit_transform(np.maximum(information, 0.0))
word_vectors = normalize(factors)
vectors = normalize(tfidf @ word_vectors)

views = {"tfidf": tfidf, "lsa": lsa, "vectors": vectors}

# %%
# Late fusion and baselines
# -------------------------
rows = lf.compare_baselines(views, n_clusters=len(corpus), target=topics, random_state=0)
rows

# %%
# "KMeans on ..." is the embedding with the best score, which cannot be chosen without the topics. The consensus and the
# mean kernel (A-MKKM), a strong baseline here, do not need this choice.
model = lf.LateFusionClustering(n_clusters=len(corpus), random_state=0).fit(views)
display = ViewWeightsDisplay.from_estimator(model)
display.figure_.set_size_inches(6, 2.4)

# %%
ConsensusDisplay.from_estimator(model, s=14)

# %%
# The words that are most frequent in a cluster compared with all others:
vocabulary = vectorizer.get_feature_names_out()
for cluster in np.unique(model.labels_):
    own = model.labels_ == cluster
    contrast = np.asarray(tfidf[own].mean(axis=0) - tfidf[~own].mean(axis=0)).ravel()
    found, sizes = np.unique(topics[own], return_counts=True)
    main = f"{sizes.max() / own.sum():4.0%} {found[sizes.argmax()]:12}"
    print(f"{own.sum():4} texts, {main}", *vocabulary[contrast.argsort()[-1:-6:-1]])

# %%
# Clusters are not modules: ``stats`` is split into distributions and tests, and texts of small modules share clusters
# with related texts of others. Seven is the number of modules, not necessarily the number of topics.
#
# Other clusterings that score as high within the standard error are listed. Here some borders between modules are
# uncertain, and each of these clusterings is a reasonable answer:
for other in model.alternatives_:
    print(other)

# %%
# A new text with one of the embeddings:
question = ["eigenvalues and eigenvectors of a symmetric banded matrix, with LAPACK"]
label = model.predict({"tfidf": vectorizer.transform(question)})[0]
found, sizes = np.unique(topics[model.labels_ == label], return_counts=True)
print(dict(zip(found.tolist(), sizes.tolist(), strict=True)))
