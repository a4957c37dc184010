"""The import rules of docs/architecture.md, read from the source and from a fresh interpreter."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
HEAVY = ("torch", "transformers", "trl", "datasets", "accelerate", "matplotlib", "tokenizers")

LEVELS = [
    {"errors", "seeds"},
    {"configuration"},
    {"testbed"},
    {"policy", "engineer"},
    {"rollout", "trainer"},
    {"evaluation", "watch", "task_files", "recipe_files", "recipe_errors"},
    {"testbeds", "policies", "diagnosis", "engineers", "run_store"},
    {"trainers", "redesign"},
    {"recipe", "loop", "miniature"},
    {"start", "environment"},
    {"seat"},
    {"experiment", "report"},
    {"ablation"},
    {"console", "commands"},
    {"interchange_commands"},
    {"cli"},
]
"""From the bottom up; a module imports from its own part or from a lower level. Parts of one level are strangers."""

MEANT: set[tuple[str, str]] = {("commands", "console")}
"""The imports inside one level that are meant."""


def modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }


def imports(path: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def part(module: str) -> str:
    return [*module.split("."), ""][1]


def level(name: str) -> int:
    return next(index for index, parts in enumerate(LEVELS) if name in parts)


@pytest.mark.parametrize("module", sorted(modules()))
def test_imports__point_downwards(module: str) -> None:
    own = part(module)
    for imported in imports(modules()[module]):
        other = part(imported)
        if not imported.startswith("envwright.") or other == own or imported == "envwright.__version__":
            continue
        allowed = level(other) < level(own) or (own, other) in MEANT
        assert allowed, f"{module} may not import {imported}"


def test_imports__have_no_cycle() -> None:
    known = modules()
    graph = {
        name: {other for other in imports(path, top_level_only=True) if other in known and other != name}
        for name, path in known.items()
    }
    TopologicalSorter(graph).prepare()


def test_verifier__imports_nothing_of_the_solver() -> None:
    known = modules()
    waiting = ["envwright.testbeds.mapf_frozenlake.verifier"]
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in known and name not in reached:
            reached.add(name)
            waiting += imports(known[name])
    solvers = {name for name in reached if any(word in name for word in ("solver", "search", "agents", "cbs"))}
    assert not solvers


@pytest.mark.parametrize("statement", ["import envwright.cli", "import envwright.experiment"])
def test_core__imports_nothing_heavy(statement: str) -> None:
    program = f"{statement}; import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_trl__is_imported_in_one_place() -> None:
    users = {name for name, path in modules().items() if any(i.split(".")[0] == "trl" for i in imports(path))}
    assert users == {"envwright.trainers.grpo"}
