"""The media types of requests and answers, by name."""

JSON = "application/json"
CSV = "text/csv"
ARROW_STREAM = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
MARKDOWN = "text/markdown"
XML = "application/xml"
