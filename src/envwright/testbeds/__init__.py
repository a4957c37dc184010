"""The families of environments."""
