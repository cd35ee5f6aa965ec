"""Runs the steps of clients/scenario.json with both clients against a running service.

tests/scenario.py SCENARIO NAME=VALUE...

SHOTLOG_URL and SHOTLOG_TOKEN select the service; steps refer to NAME=VALUE as ${NAME}. Exits with 1 at the
first step whose result differs.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
import re
import sys
import time
from typing import Any

import shotlog

ABSENT = object()


async def run(client_class: type[Any], steps: list[dict[str, Any]], values: dict[str, Any]) -> None:
    for step in steps:
        try:
            await run_step(client_class, substitute(step, values), values)
        except Exception as error:
            raise SystemExit(f"{client_class.__name__}: '{step['name']}': {error!r}") from error


async def run_step(client_class: type[Any], step: dict[str, Any], values: dict[str, Any]) -> None:
    options = dict(step.get("options", {}))
    reported: list[Any] = []
    if "progress" in step:
        options["progress"] = lambda *args: reported.append(plain(args if len(args) > 1 else args[0]))
    client = client_class(**step.get("client", {}))
    try:
        actual = plain(await collect(getattr(client, step["call"])(*step.get("args", []), **options)))
        expected = step.get("expect", {})
        assert "error" not in step, f"no error, but {actual}"
    except shotlog.ShotlogError as error:
        if "error" not in step:
            raise
        actual = {"class": type(error).__name__, "message": str(error), **plain(vars(error))}
        expected = step["error"]
    finally:
        await collect(client.aclose() if hasattr(client, "aclose") else client.close())
    compare(actual, expected)
    compare(reported, step.get("progress", {}))
    values.update({name: at(actual, path) for name, path in step.get("save", {}).items()})


async def collect(result: Any) -> Any:
    """The final result of a call of either client."""
    if inspect.isawaitable(result):
        return await result
    if inspect.isasyncgen(result):
        return [each async for each in result]
    return list(result) if inspect.isgenerator(result) else result


def substitute(part: Any, values: dict[str, Any]) -> Any:
    """A part of the scenario with its variables replaced."""
    if isinstance(part, dict):
        return {substitute(key, values): substitute(value, values) for key, value in part.items()}
    if isinstance(part, list):
        return [substitute(each, values) for each in part]
    if not isinstance(part, str):
        return part
    whole = re.fullmatch(r"\$\{(\w+)\}", part)
    return values[whole[1]] if whole else re.sub(r"\$\{(\w+)\}", lambda m: str(values[m[1]]), part)


def plain(value: Any) -> Any:
    """A result as JSON values."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "begins": value[:3].hex()}
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def at(value: Any, path: str) -> Any:
    for key in path.split(".") if path else []:
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return value


def compare(actual: Any, expected: dict[str, Any]) -> None:
    for path, want in expected.items():
        have = at(actual, path)
        assert matches(have, want), f"{path or 'it'} is {have!r}, not {want!r}; result: {actual!r}"


def matches(have: Any, want: Any) -> bool:
    match want:
        case {"absent": bool(absent)}:
            return (have is ABSENT) == absent
        case {"at_least": minimum}:
            return bool((have if isinstance(have, (int, float)) else len(have)) >= minimum)
        case {"length": length}:
            return bool(len(have) == length)
        case {"matches": pattern}:
            return isinstance(have, str) and re.search(pattern, have) is not None
        case {"contains": element}:
            return isinstance(have, list) and element in have
        case _:
            return bool(have == want)


def main() -> None:
    path, *variables = sys.argv[1:]
    with open(path) as file:
        steps = json.load(file)["steps"]
    for client_class in (shotlog.Shotlog, shotlog.AsyncShotlog):
        values: dict[str, Any] = dict(pair.split("=", 1) for pair in variables)
        values["clip_size"] = int(values["clip_size"])
        values["run"] = client_class.__name__
        start = time.monotonic()
        asyncio.run(run(client_class, steps, values))
        print(f"python {client_class.__name__}: {len(steps)} steps in {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
