"""Rows in an engine (DuckDB, Spark, any database with SQL) to groups of scores, without reading the rows here.

Knows the mathematics of curves; nothing of bytes, requests or HTTP. Its modules import what the extras install, so
import them where they are used: rocpr itself runs without.
"""
