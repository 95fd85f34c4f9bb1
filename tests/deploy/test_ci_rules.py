"""The rules of deploy/ci/rules: each file passes data that are good enough, and fails or warns of others."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cli.running import Ran, run

FOLDER = Path(__file__).resolve().parents[2] / "deploy/ci/rules"
MakeFile = Callable[..., Path]


@pytest.fixture
def csv(tmp_path: Path) -> MakeFile:
    """Write columns into a file."""

    def csv(name: str, **columns: Sequence[object] | NDArray[np.generic]) -> Path:
        rows = zip(*columns.values(), strict=True)
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
        return path

    return csv


def judged(rules: str, *words: object) -> Ran:
    return run("gate", FOLDER / f"{rules}.toml", *words, NO_COLOR="1", GITHUB_STEP_SUMMARY=None)


def probabilities(labels: NDArray[np.int_], shift: float | NDArray[np.double], seed: int = 1) -> NDArray[np.double]:
    """Scores between 0 and 1: positives are higher by a shift, which tells how good the model is."""
    noise = np.random.default_rng(seed).normal(size=len(labels))
    return np.round(1 / (1 + np.exp(-(noise + shift * (labels - 0.5)))), 4)


LABELS = np.arange(600) % 3 // 2


@pytest.mark.parametrize(("shift", "status"), [(3.0, 0), (1.0, 1)])
def test_area(csv: MakeFile, shift: float, status: int) -> None:
    scores = csv("new", scores=probabilities(LABELS, shift), labels=LABELS)
    assert judged("area", scores).exit_code == status


@pytest.mark.parametrize(("shift", "status"), [(3.0, 0), (1.5, 1)])
@pytest.mark.parametrize("has_truth", [True, False])
def test_threshold(csv: MakeFile, shift: float, status: int, *, has_truth: bool) -> None:
    """The rows of both models are in another order."""
    order = np.random.default_rng(2).permutation(len(LABELS))
    labels = {} if has_truth else {"labels": LABELS}
    old = {"case": np.arange(600), "scores": probabilities(LABELS, 3.0)} | labels
    noise = np.random.default_rng(3).normal(size=600) / 50
    new = old | {"scores": np.round(old["scores"] + noise + (shift - 3) * LABELS / 5, 4)}
    truth = ["--truth", csv("truth", case=order, labels=LABELS[order])] if has_truth else []
    shuffled = csv("new", **{name: np.asarray(column)[order] for name, column in new.items()})
    ran = judged("threshold", shuffled, "--baseline", csv("old", **old), *truth)
    assert ran.exit_code == status
    assert ", paired" in ran.stdout
    assert ("recall at threshold 0.5 dropped by" in ran.stdout) == bool(status)


def test_patients(csv: MakeFile) -> None:
    """The same scores pass as rows of many patients, and not as rows of few."""
    scores = {"scores": probabilities(LABELS, 2.0), "labels": LABELS}
    assert judged("patients", csv("new", patient=np.arange(600) // 3, **scores)).exit_code == 0
    few = np.argsort(scores["scores"], kind="stable").argsort() // 50
    ran = judged("patients", csv("new", patient=few, **scores))
    assert ran.exit_code == 1
    assert "12 clusters" in ran.stdout


@pytest.mark.parametrize(("worst", "status"), [(2.0, 0), (0.0, 1)])
def test_countries(csv: MakeFile, worst: float, status: int) -> None:
    """Country 7 may be worse; country 39 has too few rows to be judged."""
    country = np.concatenate([np.repeat(np.arange(39), 150), [39] * 20])
    labels = np.arange(len(country)) % 3 // 2
    scores = probabilities(labels, np.where(country == 7, worst, 2.0))
    ran = judged("countries", csv("new", country=country, scores=scores, labels=labels))
    assert ran.exit_code == status
    assert "1 of 40 slices is not judged" in " ".join(ran.stderr.split() + ran.stdout.split())
    assert ("failed, warns" in ran.stdout) == bool(status)
    assert ("of country 7 is" in ran.stdout) == bool(status)


@pytest.mark.parametrize(("owls", "status"), [(1.5, 0), (0.0, 1)])
def test_classes(csv: MakeFile, owls: float, status: int) -> None:
    names = np.array(["cat", "dog", "owl"])
    animal = np.arange(300) % 3
    noise = np.random.default_rng(1).normal(size=(300, 3))
    scores = np.round(noise + np.where(animal[:, None] == np.arange(3), [2.0, 2.0, owls], 0), 3)
    ran = judged("classes", csv("new", animal=names[animal], **dict(zip(names, scores.T, strict=True))))
    assert ran.exit_code == status


def test_each_file_is_tested_and_says_how_to_run_it() -> None:
    for path in FOLDER.iterdir():
        assert f"test_{path.stem}" in globals()
        text = path.read_text()
        assert f"#   rocpr gate {path.name} new.csv" in text
        assert tomllib.loads(text)["rules"]
