"""Where requests are evaluated: slots shared by processes, evaluator processes, and fairness between owners."""
