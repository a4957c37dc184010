"""The kinds of trainer."""
