"""The faults a user can mend: shown as one message, without a traceback, with exit code 2.

Every message says what must hold, what was got, and what to do. Faults inside a rollout or a
proposal are never exceptions: they are data (`Verdict.failure`, `Attempt.error`).
"""

from typing import Any


class EnvwrightError(Exception):
    """Root of everything the command line reports without a traceback."""


class RecipeError(EnvwrightError, ValueError):
    """A recipe, an override or a command-line value breaks its schema."""


class ConfigurationError(EnvwrightError, ValueError):
    """A generator configuration is outside the legal space."""


class GenerationError(EnvwrightError):
    """A legal configuration asks for boards that do not exist or could not be found."""


class ContextTooLongError(EnvwrightError):
    """An engineer's context does not fit its token budget, whatever is left out."""


class EndpointError(EnvwrightError):
    """An endpoint gave no answer.

    Attributes:
        transient: asking again later may help.
        record: what happened on the way, as JSON values.
    """

    def __init__(self, message: str, transient: bool = False, record: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.transient = transient
        self.record = record or {}


class DataFileError(EnvwrightError, ValueError):
    """A file given by the user is missing, truncated or of the wrong form."""


class RunDirectoryError(EnvwrightError):
    """A run directory is in use, already there, or not a run directory."""


class AblationError(EnvwrightError):
    """Some runs of an ablation failed; the others went on, and the message names each fault."""


class MissingExtraError(EnvwrightError, ImportError):
    """An optional dependency is not installed; the message names the extra."""
