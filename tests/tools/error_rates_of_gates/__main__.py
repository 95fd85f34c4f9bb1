"""`python -m tests.tools.error_rates_of_gates`: simulate, and print how often gates pass when they should not."""

import argparse
import sys
import time

from tests.tools.bench.report import README, rewrite
from tests.tools.error_rates_of_gates.simulation import TAIL, Case, Rates, simulated

CASES = [
    Case(100, 300, 0.8, 0.0),
    Case(100, 300, 0.8, 0.05),
    Case(100, 300, 0.9, 0.05),
    Case(100, 300, 0.8, 0.05, paired=False),
    Case(100, 300, 0.8, 0.0, paired=False),
    Case(30, 1000, 0.85, 0.05),
    Case(30, 30, 0.8, 0.0),
    Case(100, 300, 0.8, 0.0, method="bootstrap"),
    Case(100, 300, 0.8, 0.05, method="bca"),
    Case(100, 300, 0.8, 0.0, metric="pr"),
    Case(100, 300, 0.8, 0.0, metric="average_precision"),
    Case(100, 300, 0.8, 0.0, metric="recall", at_threshold=0.0),
    Case(100, 300, 0.8, 0.05, metric="recall", at_threshold=0.0),
    Case(20, 100, 0.95, 0.05, metric="recall", at_threshold=0.6),
    Case(100, 300, 0.8, 0.05, metric="recall", at_threshold=0.0, paired=False),
    Case(100, 300, 0.9, 0.05, metric="precision", at_threshold=1.0),
    Case(100, 300, 0.9, 0.05, metric="precision", at_threshold=1.0, paired=False),
    Case(100, 300, 0.9, 0.05, metric="f_measure", at=0.5, at_threshold=0.8),
    Case(20, 100, 0.95, 0.05, metric="f_measure", at=0.5, at_threshold=0.8),
    Case(100, 300, 0.8, 0.05, metric="tpr_at_fpr", at=0.1),
    Case(100, 300, 0.8, 0.05, metric="tpr_at_fpr", at=0.1, method="bootstrap"),
    Case(100, 300, 0.8, 0.05, metric="precision_at_recall", at=0.8),
    Case(100, 300, 0.8, 0.0, metric="brier"),
    Case(100, 300, 0.8, 0.05, metric="brier"),
    Case(20, 100, 0.95, 0.05, metric="brier"),
    Case(100, 300, 0.8, 0.05, metric="brier", paired=False),
    Case(100, 300, 0.8, 0.05, metric="log_loss"),
    Case(20, 100, 0.95, 0.05, metric="log_loss"),
    Case(30, 1000, 0.9, 0.05, metric="log_loss"),
    Case(20, 100, 0.95, 0.05, metric="log_loss", paired=False),
]

BEGIN, END = "<!-- tests.tools.error_rates_of_gates: begin -->", "<!-- tests.tools.error_rates_of_gates: end -->"


def main() -> int:
    """Simulate and report; the exit status is 1 if gates pass too often."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.error_rates_of_gates", description=__doc__)
    parser.add_argument("--sets", type=int, default=4000, help="data sets for each case (4000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readme", action="store_true", help="put a table into tests/README.md")
    asked = parser.parse_args()
    print("| case | passes at the bound | drop proven at the bound | passes 0.05 within | by its error | ", end="")
    print("value passes at the least |\n|---|---:|---:|---:|---:|---:|")
    found = []
    for number, case in enumerate(CASES, 1):
        print(f"{time.strftime('%H:%M:%S')} {number}/{len(CASES)} {case}", file=sys.stderr, flush=True)
        found.append(simulated(case, asked.sets, asked.seed))
        print(row(found[-1]), flush=True)
    missed = sum(not right(rates) for rates in found)
    if asked.readme:
        rewrite(README, markdown(found), BEGIN, END)
    print(f"\nAt the bound {100 * TAIL:g} % are right, of {asked.sets} data sets; {missed} cases are not.")
    return int(missed > 0)


def right(rates: Rates) -> bool:
    """Whether no error rate is too high, within 2 points; for roc also none too low."""
    slack = 0.02 + 4 * rates.error
    shares = rates.at_bound, rates.proven, rates.least
    if any(share - TAIL > slack for share in shares):
        return False
    return rates.case.metric != "roc" or min(shares) > TAIL - slack


def markdown(found: list[Rates]) -> str:
    """The errors alone, as tests/README.md shows them."""
    about = (
        f"The percentage of {found[0].sets:,} simulated pairs of data sets whose verdict with 90 % confidence is wrong "
        f"by chance. The nominal value is {100 * TAIL:g}; the standard error here is {100 * found[0].error:.1f}."
    )
    lines = [
        about,
        "",
        "| what | a drop at the bound passes | and is proven to be more | a value at the bound passes |",
        "|---|---:|---:|---:|",
    ]
    for rates in found:
        shares = (rates.at_bound, rates.proven, rates.least)
        lines.append(f"| {title(rates.case)} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |")
    return "\n".join(lines)


def title(case: Case) -> str:
    """What is simulated."""
    about = "paired" if case.paired else "not paired"
    method = "" if case.method == "auto" else f" by {case.method}"
    sizes = f"{case.positives} positives, {case.negatives} negatives"
    return f"`{case.rules[0].of}`{method}, {sizes}, {about}, `roc` {case.area:g}, {case.drop:g} less"


def row(rates: Rates) -> str:
    """A line of the table."""
    shares = [rates.at_bound, rates.proven, rates.within, rates.expected_within, rates.least]
    texts = ["" if share is None else f"{100 * share:.1f} %" for share in shares]
    return f"| {' | '.join([title(rates.case), *texts])} |"


if __name__ == "__main__":
    sys.exit(main())
