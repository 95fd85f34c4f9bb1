"""Statistics on evaluations: how certain an area or a metric is, and whether a model passes its rules."""
