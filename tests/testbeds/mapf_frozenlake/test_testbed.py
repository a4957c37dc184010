from collections import Counter

import pytest
from pydantic import ValidationError

from envwright.configuration import Configuration
from envwright.errors import ConfigurationError
from envwright.testbed import Completion, Task
from envwright.testbeds.mapf_frozenlake.answer import format_cells
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs
from envwright.testbeds.mapf_frozenlake.solver import solve
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings

SMALL = MapfFrozenLake(MapfSettings(sizes=(3, 5)))


def answer_of_the_solver(task: Task) -> Completion:
    solution = solve(SolvedInstance.from_json(task.payload).instance, Objective.SUM_OF_COSTS)
    text = format_cells(solution.paths)
    return Completion(text=text, tokens=len(text))


def test_sample__gives_tasks_whose_id_tags_and_prompt_belong_to_the_payload():
    for task in SMALL.sample(SMALL.uniform_configuration(), 20, seed=0):
        board = SolvedInstance.from_json(task.payload)
        assert task.id == board.instance.id
        assert task.tags == {
            "source": str(board.instance.size),
            "size": board.instance.size,
            "holes": round(len(board.instance.holes) / board.instance.size**2, 2),
            "wait": board.truth.needs_wait_sum_of_costs,
            "agents": 2,
        }
        assert "\n".join(board.instance.rows) in task.messages[0]["content"]


def test_verify__calls_the_solvers_plan_optimal_and_any_text_a_verdict():
    for task in SMALL.sample(SMALL.uniform_configuration(), 20, seed=0):
        verdict = SMALL.verify(task, answer_of_the_solver(task))
        assert (verdict.optimal, verdict.valid, verdict.parsed) == (True, True, True)
        refusal = SMALL.verify(task, Completion(text="I cannot say.", tokens=4))
        assert (refusal.valid, refusal.folded) == (False, "parse")
        assert refusal.reward < verdict.reward


def test_sample__keeps_out_the_excluded_ids():
    validation = SMALL.validation_set(40, seed=0)
    held_out = {task.id for task in validation}
    training = SMALL.sample(SMALL.uniform_configuration(), 200, seed=0, exclude=held_out)
    assert not held_out & {task.id for task in training}


def test_sample__of_a_configuration_for_other_sizes_names_both():
    other = Configuration[MapfKnobs](sources={"4": MapfKnobs(data_ratio=1.0, hole_ratio=0.2, wait_ratio=0.5)})
    with pytest.raises(ConfigurationError, match="sizes 3, 5, got 4"):
        SMALL.sample(other, 5, seed=0)


def test_validation_set__is_balanced_over_sizes_waits_and_holes():
    tasks = MapfFrozenLake().validation_set(160, seed=0)
    assert Counter(task.tags["size"] for task in tasks) == dict.fromkeys(range(3, 11), 20)
    assert Counter((task.tags["size"], task.tags["wait"]) for task in tasks) == {
        (size, wait): 10 for size in range(3, 11) for wait in (True, False)
    }
    tens = Counter(task.tags["holes"] for task in tasks if task.tags["size"] == 10)
    assert tens == dict.fromkeys((0.1, 0.2, 0.3, 0.4, 0.5), 4)


def test_validation_set__is_fixed_by_its_seed_and_apart_from_training_with_the_same_seed():
    first, again = (SMALL.validation_set(20, seed=3) for _ in range(2))
    assert first == again
    assert not {task.id for task in first} & {task.id for task in SMALL.validation_set(20, seed=4)}


def test_validation_set__can_have_other_agents_than_training():
    testbed = MapfFrozenLake(MapfSettings(sizes=(4,), validation_agents=3))
    assert {task.tags["agents"] for task in testbed.validation_set(6, seed=0)} == {3}
    assert {task.tags["agents"] for task in testbed.sample(testbed.uniform_configuration(), 6, seed=0)} == {2}


def test_describe__reports_what_the_generator_produced():
    numbers = SMALL.describe(SMALL.sample(SMALL.uniform_configuration(), 40, seed=0))
    assert numbers["5"] == {"tasks": 20.0, "mean_holes": pytest.approx(0.32), "mean_wait": 0.5}


def test_uniform_configuration__has_equal_shares_of_all_sizes():
    table = MapfFrozenLake().uniform_configuration().table()
    assert table == {str(size): {"data_ratio": 0.125, "hole_ratio": 0.3, "wait_ratio": 0.5} for size in range(3, 11)}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sizes": (2, 3)}, "3..10"),
        ({"sizes": (3, 3)}, "distinct"),
        ({"agents": 6}, "less than or equal to 5"),
        ({"validation_hole_ratios": (0.9,)}, r"0\.\.0\.5"),
        ({"holes": 0.3}, "Extra inputs"),
    ],
)
def test_settings__outside_the_rules_are_refused(values: dict[str, object], message: str):
    with pytest.raises(ValidationError, match=message):
        MapfSettings.model_validate(values)
