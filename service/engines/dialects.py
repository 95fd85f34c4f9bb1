"""The dialects of SQL and their limits; needs no sqlglot, which takes time to import."""

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
"""The dialects whose text is tested: run if the engine is available, otherwise parsed."""

WITHOUT_DECIMALS = frozenset({"sqlite"})
"""Dialects that store decimals as doubles, so that weights cannot be rounded to decimals."""

MOST_DECIMALS = 9
"""The most decimals of weights; BigQuery's NUMERIC has no more."""
