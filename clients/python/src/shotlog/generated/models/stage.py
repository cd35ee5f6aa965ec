from typing import Literal, cast

Stage = Literal[
    "aggregating",
    "alerting",
    "analyzing",
    "changing",
    "chunked",
    "chunking",
    "complete",
    "evaluating",
    "fetching",
    "indexing",
    "starting",
]


def check_stage(value: str) -> Stage:
    return cast(Stage, value)
