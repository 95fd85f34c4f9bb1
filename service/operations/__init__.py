"""The operations: what can be asked and what is answered, one file each."""

from service.operations import classes, columns, comparisons, curves, gates, plans, slices, tradeoffs

_MODULES = (curves, tradeoffs, comparisons, gates, plans, slices, classes, columns)

OPERATIONS = {each.OPERATION.name: each.OPERATION for each in _MODULES}
"""{name: operation}"""
