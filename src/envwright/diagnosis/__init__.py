"""From rollouts to structured evidence, and from evidence to an engineer's context."""
