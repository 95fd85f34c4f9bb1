"""Named datasets: an operator's file gives names to rows in an engine, and requests use these names."""
