"""The form of every result: rows of named values with notes; printed as a table, written as JSON."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Value = str | int | float | None


@dataclass
class Result:
    """One table; all rows have the same columns. None where there is nothing to tell."""

    title: str
    rows: list[dict[str, Value]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Returns what the JSON file holds."""
        return {"title": self.title, "rows": self.rows, "notes": self.notes}

    def show(self, console: Console) -> None:
        """Prints the table and the notes under it."""
        table = Table(title=self.title, title_justify="left", title_style="bold")
        for name, value in (self.rows[0] if self.rows else {}).items():
            table.add_column(name, justify="left" if isinstance(value, str) else "right")
        for row in self.rows:
            table.add_row(*map(shown, row.values()))
        console.print(table)
        for note in self.notes:
            console.print(f"  {note}", markup=False, highlight=False)
        console.print()


def shown(value: Value) -> str:
    """Returns a value as printed: three digits, no exponents."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else value


def percentile(seconds: Iterable[float], share: float) -> float:
    """Returns a percentile in milliseconds."""
    return float(np.percentile(list(seconds), share)) * 1000


def percent(part: int, whole: int) -> float | None:
    """Returns 100 * part / whole, or None of nothing."""
    return 100 * part / whole if whole else None
