"""Rates and their intervals over judged rollouts."""
