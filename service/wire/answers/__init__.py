"""From results to bytes: tables, JSON, reports, and the table of encoders."""
