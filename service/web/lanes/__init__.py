"""Where requests are evaluated: the slots that processes share, evaluator processes, and who may have the next one."""
