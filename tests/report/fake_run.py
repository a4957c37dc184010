"""A run directory as the loop leaves it, with invented answers whose every rate is known beforehand."""

from pathlib import Path

from envwright.configuration import format_table
from envwright.diagnosis.evidence import round_evidence
from envwright.engineer import Attempt, Correction, Proposal, Redesign
from envwright.recipe import load_recipe, resolved_text
from envwright.rollout import Rollout
from envwright.run_store import VALIDATION, RunStore, round_name
from envwright.testbed import Completion, Task, Verdict
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings
from envwright.trainer import Group

PER_SIZE = 10
HOSTILE = "</pre><script>alert('engineer')</script> $title | <b>"
VALID_OF_TEN = {"base": 3, "round_00": 4, "round_01": 5, "round_02": 6}
"""Valid answers among the ten of each size; of them the first two are optimal in both objectives."""


def write_fake_run(path: Path, stages: int = 4, sizes: tuple[int, ...] = (3, 4)) -> RunStore:
    """Writes a run of three rounds that got as far as `stages` of: base, round 0, round 1, round 2."""
    recipe = load_recipe("cpu", ["rounds=3", f"testbed.sizes={list(sizes)}", "configuration=uniform"])
    store = RunStore.create(path, resolved_text(recipe), {})
    testbed = MapfFrozenLake(MapfSettings(sizes=sizes))
    tasks = [_task(size, index) for size in sizes for index in range(PER_SIZE)]
    store.write_tasks(VALIDATION, tasks, testbed.name)
    for index, name in enumerate(list(VALID_OF_TEN)[:stages], start=-1):
        rollouts = [_rollout(task, number % PER_SIZE, VALID_OF_TEN[name]) for number, task in enumerate(tasks)]
        store.write_rollouts(f"{name}/rollouts.parquet", rollouts)
        if index >= 0:
            _write_round(store, index, testbed, tasks, rollouts)
    return store


def _task(size: int, index: int) -> Task:
    tags = {"source": str(size), "size": size, "holes": 0.1 if index < 5 else 0.3, "wait": index % 2 == 0, "agents": 2}
    return Task(id=f"{size}-{index}", messages=({"role": "user", "content": "a board"},), payload="{}", tags=tags)


def _rollout(task: Task, index: int, valid_of_ten: int) -> Rollout:
    valid, optimal, parsed = index < valid_of_ten, index < 2, index < 9
    kind = None if valid else ("hole" if parsed else "parse")
    verdict = Verdict(
        reward=float(valid),
        parsed=parsed,
        valid=valid,
        optimal=optimal,
        failure=kind,
        folded=kind,
        details={"optimal_sum_of_costs": optimal, "optimal_makespan": index < 3},
    )
    return Rollout(task=task, completion=Completion(text="a plan", tokens=20, truncated=not parsed), verdict=verdict)


def _write_round(
    store: RunStore, index: int, testbed: MapfFrozenLake, tasks: list[Task], rollouts: list[Rollout]
) -> None:
    name, configuration = round_name(index), testbed.uniform_configuration()
    groups = [
        Group(task_id=task.id, source=task.source, rewards=(0.0, float(i % 4 > 0))) for i, task in enumerate(tasks)
    ]
    evidence = round_evidence(index, configuration, rollouts, groups, testbed, tasks, {})
    store.write_text(f"{name}/config.yaml", format_table(configuration.table(), 4))
    store.write_record(f"{name}/evidence.json", evidence)
    store.write_text(f"{name}/done", "")
    if index < 2:
        store.write_record(f"{name}/proposal.json", _redesign(testbed))


def _redesign(testbed: MapfFrozenLake) -> Redesign:
    table = testbed.uniform_configuration().table()
    attempts = (
        Attempt(text="I would rather not.", error=f"no block: {HOSTILE}", tokens=5, seconds=1.0),
        Attempt(text=HOSTILE, tokens=60, seconds=2.5),
    )
    source = testbed.sources[0]
    return Redesign(
        configuration=table,
        status="corrected",
        corrections=(Correction(source=source, knob="hole_ratio", proposed=0.9, became=0.5, reason="above its bound"),),
        proposal=Proposal(table=table, reasons={source: f"weak {HOSTILE}"}, attempts=attempts, context=HOSTILE),
    )
