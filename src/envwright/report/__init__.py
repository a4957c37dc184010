"""Tables and pages recomputed from a run directory."""
