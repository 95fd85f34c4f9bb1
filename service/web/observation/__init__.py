"""What the service reports about itself: its log, its counts for Prometheus, and the times in each answer."""
