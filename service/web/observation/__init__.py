"""What the service reports about itself: its log, its metrics for Prometheus, and the times in each answer."""
