"""Tables and one self-contained page, recomputed from a run directory alone."""

from pathlib import Path

from envwright.report.page import render_page
from envwright.report.run_data import read_run
from envwright.report.tables import render_tables
from envwright.run_store import RunStore


def write_report(directory: Path) -> Path:
    """Writes report/tables.md and report/index.html of a run, finished or not, and returns the page's path.

    Raises:
        RunDirectoryError: the directory is not a run.
        DataFileError: one of its files is damaged.
    """
    store = RunStore.open(directory)
    run = read_run(store)
    store.write_text("report/tables.md", render_tables(run))
    store.write_text("report/index.html", render_page(run))
    return directory / "report" / "index.html"
