"""What can be said of SQL without sqlglot, which takes time to import: the dialects, and limits of their text."""

DIALECTS = (
    "athena",
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "mysql",
    "postgres",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "trino",
    "tsql",
)
"""The dialects whose text is tested: run where the engine can be had, else parsed."""

WITHOUT_DECIMALS = frozenset({"sqlite"})
"""Dialects whose decimals are doubles, so that weights cannot be rounded to decimals."""

MOST_DECIMALS = 9
"""The most decimals of weights; BigQuery's NUMERIC has no more."""
