"""Makes the CSV files next to it again: `python tests/data/make_data.py` in the environment of deploy/test.sh.

Nothing is random: the data sets ship with scikit-learn, the folds are consecutive (stratified, not shuffled), and the
solver goes on until the optimum is settled far below the decimals that are written. README.md here tells what is what.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

HERE = Path(__file__).resolve().parent
FOLDS = 10
DECIMALS = 6
"""Of a score in the files. Scores that are equal after rounding are ties, as in many a real file."""


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a malignant tumour, from all 30 features; malignant is 1."""
    return tumours("")


def breast_cancer_ten() -> tuple[np.ndarray, np.ndarray]:
    """Score the same tumours by the ten features that the data set calls worst: each measure's largest values."""
    return tumours("worst ")


def tumours(prefix: str) -> tuple[np.ndarray, np.ndarray]:
    """Score the tumours by the features whose names begin so."""
    data = load_breast_cancer()
    labels = (data.target == list(data.target_names).index("malignant")).astype(int)
    chosen = [column for column, name in enumerate(data.feature_names) if name.startswith(prefix)]
    return out_of_fold(data.data[:, chosen], labels, "predict_proba")[:, 1], labels


def digits_eight() -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of an eight among all digits, from no more than the ink in each row and column of the image."""
    images = load_digits().images
    features = np.hstack([images.sum(axis=1), images.sum(axis=2)])
    labels = (load_digits().target == 8).astype(int)
    return out_of_fold(features, labels, "decision_function"), labels


def out_of_fold(features: np.ndarray, labels: np.ndarray, method: str) -> np.ndarray:
    """Score each row by a logistic regression that has not seen its fold."""
    regression = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    model = make_pipeline(StandardScaler(), regression)
    return cross_val_predict(model, features, labels, cv=StratifiedKFold(FOLDS), method=method)


SAMPLES = {
    "breast_cancer.csv": breast_cancer,
    "breast_cancer_ten.csv": breast_cancer_ten,
    "digits_eight.csv": digits_eight,
}
COUNTS = {"davis_goadrich_table_1.csv": ((5, 5), (10, 30))}
"""The two points A and B that table 1 of Davis and Goadrich (2006, section 4) interpolates between."""

POSITIVES, NEGATIVES = 20, 2000


def sample_lines(scores: np.ndarray, labels: np.ndarray) -> Iterable[str]:
    """Write a sample, in the data set's own order."""
    yield "scores,labels"
    for score, label in zip(scores, labels, strict=True):
        yield f"{score:.{DECIMALS}f},{label}"


def counts_lines(points: tuple[tuple[int, int], ...]) -> Iterable[str]:
    """Write confusion matrices with all four counts."""
    yield "tp,fp,fn,tn"
    for tp, fp in points:
        yield f"{tp},{fp},{POSITIVES - tp},{NEGATIVES - fp}"


def main() -> None:
    """Write every file."""
    lines = {name: sample_lines(*make()) for name, make in SAMPLES.items()}
    lines |= {name: counts_lines(points) for name, points in COUNTS.items()}
    for name, content in lines.items():
        (HERE / name).write_text("\n".join(content) + "\n", encoding="ascii", newline="\n")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
