"""
Documents with several embeddings
=================================

A text can be turned into numbers in many ways: weighted words, latent topics, averaged word vectors. Which one is best
nobody knows beforehand, and people average or concatenate them. Late fusion clusters the texts in each and aligns the
results.

The documents are real and already on every machine that can run this page: the docstrings of seven modules of SciPy and
scikit-learn. The module is the topic; it is used for scores only. Other versions of these libraries have other
docstrings, so the figures move a little from one installation to the next.
"""

# %%
# The corpus
# ----------
import importlib
import inspect
import re

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

import latefusion as lf
from latefusion.plots import ConsensusDisplay, ViewWeightsDisplay

# sphinx_gallery_thumbnail_number = 2
MODULES = (
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
    "sklearn.metrics",
)


def docstrings(module):
    """Distinct docstrings of at least eighty words of what a module offers, a hundred at most."""
    namespace = importlib.import_module(module)
    texts = {inspect.getdoc(getattr(namespace, name)) or "" for name in namespace.__all__}
    return sorted(text for text in texts if len(text.split()) >= 80)[:100]


corpus = {module: docstrings(module) for module in MODULES}
texts = [text for own in corpus.values() for text in own]
topics = np.repeat(MODULES, [len(own) for own in corpus.values()])
print({module: len(own) for module, own in corpus.items()})

# %%
# Three embeddings
# ----------------
# Weighted words, which stay a sparse matrix:
words = {"stop_words": "english", "token_pattern": r"(?u)\b[a-z]{3,}\b"}
vectorizer = TfidfVectorizer(min_df=5, max_df=0.3, sublinear_tf=True, **words)
tfidf = vectorizer.fit_transform(texts)

# %%
# Latent semantic analysis of words and pairs of words:
pairs = TfidfVectorizer(min_df=3, max_df=0.3, sublinear_tf=True, ngram_range=(1, 2), **words).fit_transform(texts)
lsa = TruncatedSVD(60, random_state=0).fit_transform(pairs)

# %%
# Word vectors learnt from the corpus itself: words that stand in the same paragraphs more often than chance are near
# each other (positive pointwise mutual information, factorised). A document is the mean of its words.
paragraphs = [paragraph for text in texts for paragraph in re.split(r"\n\s*\n", text)]
occurs = CountVectorizer(vocabulary=vectorizer.vocabulary_, binary=True, **words).fit_transform(paragraphs)
together = (occurs.T @ occurs).toarray().astype(float)
np.fill_diagonal(together, 0.0)
expected = np.outer(together.sum(axis=0), together.sum(axis=0)) / together.sum()
information = np.log(np.maximum(together, 1e-300) / np.maximum(expected, 1e-300))
word_vectors = normalize(TruncatedSVD(100, random_state=0).fit_transform(np.maximum(information, 0.0)))
vectors = normalize(tfidf @ word_vectors)

views = {"tfidf": tfidf, "lsa": lsa, "vectors": vectors}

# %%
# Late fusion, with the plain lines beside it
# -------------------------------------------
rows = lf.compare_baselines(views, n_clusters=len(MODULES), target=topics, random_state=0)

# %%
# "KMeans on ..." is the single embedding that scores best against the topics, which nobody could have picked without
# knowing them. The consensus needs no such luck; neither does the mean kernel (A-MKKM), which is a strong line here.
model = lf.LateFusionClustering(n_clusters=len(MODULES), random_state=0).fit(views)
display = ViewWeightsDisplay.from_estimator(model)
display.figure_.set_size_inches(6, 2.4)

# %%
ConsensusDisplay.from_estimator(model, s=14)

# %%
# What the clusters are about: the words that are most frequent in a cluster compared with all others.
vocabulary = vectorizer.get_feature_names_out()
for cluster in np.unique(model.labels_):
    own = model.labels_ == cluster
    contrast = np.asarray(tfidf[own].mean(axis=0) - tfidf[~own].mean(axis=0)).ravel()
    modules, sizes = np.unique(topics[own], return_counts=True)
    main = modules[sizes.argmax()]
    print(f"{own.sum():4} texts, {sizes.max() / own.sum():4.0%} {main:16}", *vocabulary[contrast.argsort()[-1:-7:-1]])

# %%
# A new text, in the embeddings at hand; here one alone:
question = ["eigenvalues and eigenvectors of a symmetric banded matrix, computed with LAPACK"]
label = model.predict({"tfidf": vectorizer.transform(question)})[0]
modules, sizes = np.unique(topics[model.labels_ == label], return_counts=True)
print(dict(zip(modules.tolist(), sizes.tolist(), strict=True)))
