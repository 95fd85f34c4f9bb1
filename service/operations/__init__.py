"""The operations: what can be asked and what is answered, one file each."""

from service.operations.classes import CLASSES
from service.operations.columns import COLUMNS
from service.operations.comparisons import COMPARISONS
from service.operations.curves import CURVES
from service.operations.gates import GATES
from service.operations.slices import SLICES
from service.operations.tradeoffs import TRADEOFFS

OPERATIONS = {each.name: each for each in (CURVES, TRADEOFFS, COMPARISONS, GATES, SLICES, CLASSES, COLUMNS)}
"""{name: operation}"""
