from pathlib import Path

import pytest

from envwright.errors import DataFileError, EnvwrightError, RecipeError
from envwright.recipe import load_recipe, parse_recipe, resolved_text
from envwright.recipe_files import shipped_recipes, shipped_variations

SMALL = "name: small\nengineer: {kind: keep}\ntrainer: {kind: grpo}\n"


@pytest.mark.parametrize("name", sorted(shipped_recipes()))
def test_shipped_recipe__parses_and_its_resolved_text_reads_back_equal(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    assert parse_recipe(resolved_text(recipe)) == recipe


def test_shipped_recipes__include_the_demo_and_the_main_run() -> None:
    assert {"cpu", "qwen3-4b"} <= set(shipped_recipes())


def test_load_recipe__reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(SMALL)
    assert load_recipe(str(path), ["rounds=2"]).rounds == 2


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("seed=7", lambda recipe: recipe.seed == 7),
        ("name=other", lambda recipe: recipe.name == "other"),
        ("testbed.sizes=[3, 5]", lambda recipe: recipe.testbed.sizes == (3, 5)),
        ("testbed.reward.valid=0.7", lambda recipe: recipe.testbed.reward.valid == 0.7),
        ("guardrails.trust_region=null", lambda recipe: recipe.guardrails.trust_region is None),
        ("trainer.arguments.learning_rate=1e-6", lambda recipe: recipe.trainer.arguments["learning_rate"] == 1e-6),
        ("trainer.arguments.run_name=1e-6x", lambda recipe: recipe.trainer.arguments["run_name"] == "1e-6x"),
        ("validation.sampling.temperature=0", lambda recipe: recipe.validation.sampling.temperature == 0.0),
    ],
)
def test_override__is_a_yaml_value_at_a_dotted_place(override: str, read) -> None:
    assert read(parse_recipe(SMALL, [override]))


def test_override__of_a_kind_starts_its_section_afresh() -> None:
    engineer = load_recipe("cpu", ["engineer.kind=keep"]).engineer
    assert engineer.model_dump() == {"kind": "keep"}


def test_override__of_the_same_kind_keeps_its_section() -> None:
    assert load_recipe("cpu", ["engineer.kind=llm"]) == load_recipe("cpu")


def test_override__later_ones_win() -> None:
    assert parse_recipe(SMALL, ["rounds=2", "rounds=4"]).rounds == 4


@pytest.mark.parametrize("override", ["rounds", "=3", "name.first=3", "rounds={", "rounds=[1"])
def test_override__malformed_is_quoted(override: str) -> None:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(SMALL, [override])
    assert repr(override) in str(caught.value)


@pytest.mark.parametrize(
    ("override", "key", "nearest", "known"),
    [
        ("roundz=3", "roundz", "rounds", "samples_per_round"),
        ("testbed.size=[3]", "testbed.size", "sizes", "agents"),
        ("testbed.reward.vallid=1", "testbed.reward.vallid", "valid", "optimal"),
        ("trainer.epoch=1", "trainer.epoch", "epochs", "arguments"),
        ("validation.sampling.temprature=1", "validation.sampling.temprature", "temperature", "max_tokens"),
        ("guardrails.trust_region.data_ration=1", "guardrails.trust_region.data_ration", "data_ratio", "other"),
        ("engineer.kinds=llm", "engineer.kinds", "kind", "kind"),
    ],
)
def test_unknown_key__is_answered_with_the_nearest_and_the_known(
    override: str, key: str, nearest: str, known: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(SMALL, [override])
    message = str(caught.value)
    assert f"unknown key {key!r}" in message
    assert f"did you mean {nearest!r}?" in message
    assert known in message.partition("known keys there: ")[2]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("rounds=0", ["rounds: ", "got 0"]),
        ("engineer.kind=magic", ["engineer.kind: ", "'llm'", "'keep'", "'magic'"]),
        ("engineer={model: base}", ["engineer.kind: ", "llm", "keep"]),
        ("configuration=bogus", ["configuration: ", "'uniform'", "'random'", "'bogus'"]),
        ("configuration={3: {data_ratio: much}}", ["configuration.3.data_ratio: ", "'much'"]),
        ("testbed.sizes=[3, 99]", ["testbed.sizes: ", "3..10", "[3, 99]"]),
        ("testbed.validation_hole_ratios=[0.9]", ["testbed.validation_hole_ratios: ", "0..0.5", "0.9"]),
    ],
)
def test_wrong_value__names_the_key_and_what_must_hold(override: str, words: list[str]) -> None:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(SMALL, [override])
    message = str(caught.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == []


def test_wrong_values__are_all_told_at_once() -> None:
    with pytest.raises(RecipeError) as caught:
        parse_recipe(SMALL, ["rounds=0", "seed=x", "what=1"])
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize("text", ["", "- a list", "name: [", "just words", "name: x"])
def test_parse_recipe__wants_a_complete_mapping(text: str) -> None:
    with pytest.raises(RecipeError):
        parse_recipe(text)


def test_parse_recipe__never_builds_objects() -> None:
    with pytest.raises(RecipeError, match="must be YAML"):
        parse_recipe("name: !!python/object/apply:os.getcwd []")


def test_load_recipe__missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"nowhere\.yaml"):
        load_recipe(str(tmp_path / "nowhere.yaml"))


def test_load_recipe__binary_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bytes.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataFileError, match=r"bytes\.yaml"):
        load_recipe(str(path))


def test_load_recipe__unknown_name_lists_the_shipped() -> None:
    with pytest.raises(RecipeError, match=r"cpu, qwen3-4b"):
        load_recipe("gpu")


def test_configuration__sources_may_be_numbers() -> None:
    table = "{3: {data_ratio: 1, hole_ratio: 0.2, wait_ratio: 0.5}}"
    recipe = parse_recipe(SMALL, [f"configuration={table}"])
    assert recipe.configuration == {"3": {"data_ratio": 1.0, "hole_ratio": 0.2, "wait_ratio": 0.5}}


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)


def test_extends__a_shipped_recipe_holds_only_what_differs(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: cpu\nname: mine\nvalidation: {sampling: {temperature: 0.5}}\n")
    mine = load_recipe(str(tmp_path / "mine.yaml"))
    assert mine == load_recipe("cpu", ["name=mine", "validation.sampling.temperature=0.5"])
    assert parse_recipe(resolved_text(mine)) == mine
    assert "extends" not in resolved_text(mine)


def test_extends__a_path_is_relative_to_the_file_that_says_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path, main=SMALL)
    write(tmp_path / "below", middle="extends: ../main.yaml\nrounds: 2\n", last="extends: middle.yaml\nseed: 4\n")
    assert load_recipe(str(tmp_path / "below" / "last.yaml")) == parse_recipe(SMALL, ["rounds=2", "seed=4"])


def test_extends__a_changed_kind_replaces_its_section(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: cpu\nengineer: {kind: random}\n")
    assert load_recipe(str(tmp_path / "mine.yaml")).engineer.model_dump() == {"kind": "random"}


def test_extends__a_table_of_knobs_is_one_value(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: cpu\nconfiguration: {3: {data_ratio: 1, hole_ratio: 0, wait_ratio: 0}}\n")
    assert list(load_recipe(str(tmp_path / "mine.yaml")).configuration) == ["3"]


def test_extends__overrides_come_last(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: cpu\nrounds: 2\n")
    assert load_recipe(str(tmp_path / "mine.yaml"), ["rounds=5"]).rounds == 5


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"mine": "extends: mine.yaml\n"}, "in a circle: .*mine.yaml -> .*mine.yaml"),
        ({"mine": "extends: other.yaml\n", "other": "extends: mine.yaml\n"}, "in a circle: .*other.yaml -> "),
        ({"mine": "extends: gpu\n"}, "one of cpu, qwen3-4b, got 'gpu'"),
        ({"mine": "extends: cpu:v9\n"}, "must be one of base-engineer, .*, got 'v9'"),
        ({"mine": "extends: [cpu]\n"}, r"must be a recipe's name or a .yaml file, got \['cpu'\]"),
        ({"mine": "extends: other.yaml\n"}, "must be a readable YAML file, got .*other.yaml"),
        ({"mine": "extends: cpu\nroundz: 3\n"}, "unknown key 'roundz'"),
    ],
)
def test_extends__faults_are_told(tmp_path: Path, texts: dict[str, str], message: str) -> None:
    write(tmp_path, **texts)
    with pytest.raises(EnvwrightError, match=message):
        load_recipe(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize("base", ["cpu", "qwen3-4b"])
@pytest.mark.parametrize("variation", sorted(shipped_variations()))
def test_shipped_variation__changes_one_section_of_a_main_recipe(base: str, variation: str) -> None:
    main, varied = load_recipe(base), load_recipe(f"{base}:{variation}")
    assert varied.name == f"{base}-{variation}"
    same = {name for name in type(main).model_fields if getattr(main, name) == getattr(varied, name)}
    assert len(same) >= len(type(main).model_fields) - 2


@pytest.mark.parametrize(
    ("variation", "read"),
    [
        ("v3", lambda recipe: recipe.context.modules == "V3"),
        ("full-details", lambda recipe: recipe.context.training_details == "full"),
        (
            "base-engineer",
            lambda recipe: recipe.engineer.model == "base" and recipe.engineer.sampling.max_tokens == 256,
        ),
        ("keep", lambda recipe: recipe.engineer.kind == "keep"),
        ("no-guardrails", lambda recipe: recipe.guardrails.floor == 0 and recipe.guardrails.trust_region is None),
    ],
)
def test_shipped_variation__says_what_its_name_says(variation: str, read) -> None:
    assert read(load_recipe(f"cpu:{variation}"))


def test_variations__may_follow_each_other_and_lie_over_a_file(tmp_path: Path) -> None:
    write(tmp_path, mine="extends: cpu\nname: mine\n")
    recipe = load_recipe(f"{tmp_path / 'mine.yaml'}:v1:no-guardrails")
    assert (recipe.name, recipe.context.modules) == ("mine-v1-no-guardrails", "V1")
    assert recipe.guardrails.trust_region is None


def test_load_recipe__unknown_name_lists_the_variations_too() -> None:
    with pytest.raises(RecipeError, match=r"base-engineer, full-details, .*v6"):
        load_recipe("gpu")


ENDPOINT = "{base_url: 'http://localhost:8000/v1', model: m}"


@pytest.mark.parametrize(
    ("engineer", "message"),
    [
        ("{kind: llm, model: endpoint}", "model: endpoint needs the section endpoint"),
        ("{kind: llm, model: checkpoint}", "model: checkpoint needs the section checkpoint"),
        (f"{{kind: llm, endpoint: {ENDPOINT}}}", "the section endpoint goes with model: endpoint, got model: policy"),
        ("{kind: llm, model: base, checkpoint: {model: x}}", "the section checkpoint goes with model: checkpoint"),
        (f"{{kind: keep, endpoint: {ENDPOINT}}}", "unknown key 'engineer.endpoint'"),
        ("{kind: llm, model: endpoint, endpoint: {model: m}}", "engineer.endpoint.base_url"),
        ("{kind: llm, model: endpoint, endpoint: {bas_url: x}}", "did you mean 'base_url'"),
    ],
)
def test_parse_recipe__wants_the_section_that_the_engineers_model_needs(engineer: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        parse_recipe(SMALL, [f"engineer={engineer}"])


def test_parse_recipe__takes_an_endpoint_and_its_resolved_text_reads_back_equal() -> None:
    recipe = parse_recipe(SMALL, [f"engineer={{kind: llm, model: endpoint, endpoint: {ENDPOINT}}}"])
    assert parse_recipe(resolved_text(recipe)) == recipe


@pytest.mark.parametrize("field", ["api_key_env", "api_key"])
def test_parse_recipe__does_not_show_a_misplaced_key(field: str) -> None:
    section = f"{{base_url: 'http://localhost:8000/v1', model: m, {field}: sk-0123456789}}"
    with pytest.raises(RecipeError) as caught:
        parse_recipe(SMALL, [f"engineer={{kind: llm, model: endpoint, endpoint: {section}}}"])
    assert "sk-0123456789" not in str(caught.value)
