"""Envwright: LLM-designed training environments for RL (arXiv 2606.17682)."""

__version__ = "0.1.0"
