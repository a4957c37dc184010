"""Makes the oracles, case readers and contracts beside the tests importable."""

import sys
from pathlib import Path

from hypothesis import settings

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")

TESTS = Path(__file__).parent
sys.path += [str(TESTS / folder) for folder in ("testbeds/mapf_frozenlake", "engineers", "policies")]
