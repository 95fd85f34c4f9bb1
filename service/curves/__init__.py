"""The mathematics: ROC and precision-recall curves as pure functions of one table of confusion matrices.

Knows NumPy and nothing else: no wire format, no HTTP, no settings, no log.
"""
