"""`python -m tests.error_rates_of_gates`: simulate, and print how often gates pass that should, and should not."""

import argparse
import sys
import time

from tests.error_rates_of_gates.simulation import TAIL, Case, Rates, simulated

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
]


def main() -> int:
    """Simulate, report; 1 where a gate lets through too much."""
    parser = argparse.ArgumentParser(prog="python -m tests.error_rates_of_gates", description=__doc__)
    parser.add_argument("--sets", type=int, default=4000, help="data sets for each case (4000)")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print("| case | passes at the bound | drop proven at the bound | passes 0.05 within | by its error | uniform |")
    print("|---|---:|---:|---:|---:|---:|")
    missed = 0
    for number, case in enumerate(CASES, 1):
        print(f"{time.strftime('%H:%M:%S')} {number}/{len(CASES)} {case}", file=sys.stderr, flush=True)
        rates = simulated(case, asked.sets, asked.seed)
        print(row(rates), flush=True)
        missed += not right(rates)
    print(f"\nAt the bound {100 * TAIL:g} % are right, of {asked.sets} data sets; {missed} cases are not.")
    return int(missed > 0)


def right(rates: Rates) -> bool:
    """Whether both errors at the bound are as frequent as they should be, within 2 % of all, and p-values uniform."""
    slack = 0.02 + 4 * rates.error
    near = all(abs(share - TAIL) < slack for share in (rates.at_bound, rates.proven))
    return near and (rates.uniform is None or rates.uniform > 1e-4)


def row(rates: Rates) -> str:
    """A line of the table."""
    case = rates.case
    about = "paired" if case.paired else "unpaired"
    name = f"{case.metric} {case.method}, {case.positives} + {case.negatives}, {about}, area {case.area}"
    shares = [rates.at_bound, rates.proven, rates.within, rates.expected_within]
    uniform = "" if rates.uniform is None else f"{rates.uniform:.2g}"
    cells = [f"{name}, drop {case.drop:g}", *(f"{100 * share:.1f} %" for share in shares), uniform]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
