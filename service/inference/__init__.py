"""Statistics on evaluations: how sure an area or a metric is, and whether a model passes its rules."""
