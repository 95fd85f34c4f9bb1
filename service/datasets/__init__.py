"""Named datasets: an operator's file gives rows in an engine a name, and requests may use the name."""
