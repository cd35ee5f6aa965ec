"""Takes the steps of clients/scenario.json with both clients against a running service, one after the other.

tests/scenario.py SCENARIO NAME=VALUE...

The service is that of SHOTLOG_URL and SHOTLOG_TOKEN; NAME=VALUE are what steps refer to as ${NAME}. Ends
with 1 at the first step that does not go as it is written.
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
            await take(client_class, filled(step, values), values)
        except Exception as error:
            raise SystemExit(f"{client_class.__name__}: '{step['name']}': {error!r}") from error


async def take(client_class: type[Any], step: dict[str, Any], values: dict[str, Any]) -> None:
    options = dict(step.get("options", {}))
    reported: list[Any] = []
    if "progress" in step:
        options["progress"] = lambda *told: reported.append(plain(told if len(told) > 1 else told[0]))
    client = client_class(**step.get("client", {}))
    try:
        came = plain(await finished(getattr(client, step["call"])(*step.get("args", []), **options)))
        wanted = step.get("expect", {})
        assert "error" not in step, f"no error, but {came}"
    except shotlog.ShotlogError as error:
        if "error" not in step:
            raise
        came = {"class": type(error).__name__, "message": str(error), **plain(vars(error))}
        wanted = step["error"]
    finally:
        await finished(client.aclose() if hasattr(client, "aclose") else client.close())
    compare(came, wanted)
    compare(reported, step.get("progress", {}))
    values.update({name: at(came, path) for name, path in step.get("save", {}).items()})


async def finished(result: Any) -> Any:
    """What a call of either client gives in the end."""
    if inspect.isawaitable(result):
        return await result
    if inspect.isasyncgen(result):
        return [each async for each in result]
    return list(result) if inspect.isgenerator(result) else result


def filled(part: Any, values: dict[str, Any]) -> Any:
    """A part of the scenario with the values it refers to."""
    if isinstance(part, dict):
        return {filled(key, values): filled(value, values) for key, value in part.items()}
    if isinstance(part, list):
        return [filled(each, values) for each in part]
    if not isinstance(part, str):
        return part
    whole = re.fullmatch(r"\$\{(\w+)\}", part)
    return values[whole[1]] if whole else re.sub(r"\$\{(\w+)\}", lambda m: str(values[m[1]]), part)


def plain(value: Any) -> Any:
    """What came, as JSON has it."""
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


def compare(came: Any, wanted: dict[str, Any]) -> None:
    for path, want in wanted.items():
        have = at(came, path)
        assert holds(have, want), f"{path or 'it'} is {have!r}, not {want!r}; all of it: {came!r}"


def holds(have: Any, want: Any) -> bool:
    match want:
        case {"absent": bool(absent)}:
            return (have is ABSENT) == absent
        case {"at_least": least}:
            return bool((have if isinstance(have, (int, float)) else len(have)) >= least)
        case {"length": length}:
            return bool(len(have) == length)
        case {"matches": pattern}:
            return isinstance(have, str) and re.search(pattern, have) is not None
        case {"contains": element}:
            return isinstance(have, list) and element in have
        case _:
            return bool(have == want)


def main() -> None:
    path, *given = sys.argv[1:]
    with open(path) as file:
        steps = json.load(file)["steps"]
    for client_class in (shotlog.Shotlog, shotlog.AsyncShotlog):
        values: dict[str, Any] = dict(pair.split("=", 1) for pair in given)
        values["clip_size"] = int(values["clip_size"])
        values["run"] = client_class.__name__
        start = time.monotonic()
        asyncio.run(run(client_class, steps, values))
        print(f"python {client_class.__name__}: {len(steps)} steps in {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
