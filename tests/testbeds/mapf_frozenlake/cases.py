"""The hand-made boards of tests/data/mapf_cases.json, whose answers were proved by brute force."""

import json
from pathlib import Path
from typing import Any

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "data" / "mapf_cases.json").read_text(encoding="utf-8")
)
LEGAL = [case for case in CASES if not case["expected"].get("invalid_instance")]


def instance_of(case: dict[str, Any]) -> Instance:
    return Instance.from_rows(case["grid"], case["starts"], case["goals"])


def cells(path: list[list[int]]) -> tuple[Cell, ...]:
    return tuple((row, column) for row, column in path)


def name_of(case: dict[str, Any]) -> str:
    return case["name"]
