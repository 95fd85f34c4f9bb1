"""From rows in an engine (DuckDB, Spark, any database with SQL) to groups of scores; the rows stay in the engine.

Knows the mathematics of curves; nothing of bytes, requests or HTTP. Its modules import what the extras install, so
import them only where they are used: rocpr runs without the extras.
"""
