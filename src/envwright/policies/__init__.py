"""The kinds of policy."""
