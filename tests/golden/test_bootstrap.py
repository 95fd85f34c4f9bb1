"""One bootstrap of each method and of each way to draw, pinned: in every release, a seed gives the same interval.

The numbers are rocpr's own. NumPy promises that SeedSequence and PCG64 keep their streams, but not that the methods of
its Generator do. If these tests fail after an update of NumPy, the intervals of a seed have changed: write the new
numbers here and say so in CHANGELOG.md.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.version import Version

from tests.support.asking import answered

DIGITS = Path(__file__).parents[1] / "data" / "digits_eight.csv"
FEW_KINDS = {"tp": [900, 1500, 1900], "fp": [100, 700, 2500], "positives": 2000, "negatives": 4000}
MANY_KINDS = {
    "tp": [50 * row for row in range(601)],
    "fp": [50 * row**2 // 600 for row in range(601)],
    "positives": 30_000,
    "negatives": 30_000,
}

EXPECTED: dict[tuple[str, str], dict[str, tuple[float, float, float]]] = {
    ("examples", "bootstrap"): {
        "roc": (0.8381789080813875, 0.8895878924370224, 0.01343189956191239),
        "pr": (0.33671605935754056, 0.46886669210067233, 0.03262226946178769),
        "average_precision": (0.3434658163685521, 0.4777550548708412, 0.03283125184863841),
    },
    ("examples", "bca"): {
        "roc": (0.8376392802052228, 0.8885652793746599, 0.01343189956191239),
        "pr": (0.33305400897372434, 0.4579507497550237, 0.03262226946178769),
        "average_precision": (0.33851400915955987, 0.4564068882853912, 0.03283125184863841),
    },
    ("few kinds", "bootstrap"): {
        "roc": (0.8320474, 0.8530998984375, 0.0054394417924305116),
        "pr": (0.7405396174953519, 0.7738535817110498, 0.008482334445907095),
        "average_precision": (0.6951183835582238, 0.7275315957843255, 0.008401573069957905),
    },
    ("few kinds", "bca"): {
        "roc": (0.8318103652368616, 0.8530710641025995, 0.0054394417924305116),
        "pr": (0.7413586305099855, 0.7747071796221328, 0.008482334445907095),
        "average_precision": (0.6971673962469374, 0.7279739245713998, 0.008401573069957905),
    },
    ("many kinds", "bootstrap"): {
        "roc": (0.6625029261805556, 0.6712822460277778, 0.0022450644154790936),
        "pr": (0.6886227506770289, 0.6978434597161269, 0.0023190372608464095),
        "average_precision": (0.6882200612949432, 0.6974347782419155, 0.002317992478655429),
    },
    ("many kinds", "bca"): {
        "roc": (0.6625024407720128, 0.6712781795149326, 0.0022450644154790936),
        "pr": (0.6888328838266606, 0.69789080779538, 0.0023190372608464095),
        "average_precision": (0.6883626863925291, 0.6974819393438391, 0.002317992478655429),
    },
}
"""{(data, method): {area: (lower, upper, standard error)}} of 500 resamples with seed 7"""

if Version(np.__version__) >= Version("2.5"):  # it draws large binomial counts in another way
    EXPECTED |= {
        ("many kinds", "bootstrap"): {
            "roc": (0.662755749625, 0.6714517965000001, 0.002237046074571404),
            "pr": (0.6889125666963437, 0.6980530045200757, 0.0023559822381565617),
            "average_precision": (0.688507611429432, 0.6976457897181947, 0.0023549669447703978),
        },
        ("many kinds", "bca"): {
            "roc": (0.662879698965131, 0.6716079082607997, 0.002237046074571404),
            "pr": (0.6889752432900019, 0.6982136200767296, 0.0023559822381565617),
            "average_precision": (0.6885708567715835, 0.6978062517062633, 0.0023549669447703978),
        },
    }


def intervals(data: str, method: str) -> Any:
    options: dict[str, Any] = {"method": method, "seed": 7, "resamples": 500}
    if data == "examples":
        body = DIGITS.read_text("utf-8")
        return answered("curves", body, content_type="text/csv", include="auc", intervals=json.dumps(options))[
            "intervals"
        ]
    counts = FEW_KINDS if data == "few kinds" else MANY_KINDS
    return answered("curves", {"counts": counts, "include": ["auc"], "intervals": options})["intervals"]


@pytest.mark.parametrize(("data", "method"), EXPECTED)
def test_a_seed_gives_the_interval_that_it_always_gave(data: str, method: str) -> None:
    found = intervals(data, method)
    for area, numbers in EXPECTED[data, method].items():
        assert found[area]["method"] == method
        assert [found[area][key] for key in ("lower", "upper", "standard_error")] == pytest.approx(numbers, rel=1e-12)
