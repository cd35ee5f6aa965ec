#!/usr/bin/env python3
"""Checks the crates of Cargo.lock against .cargo/deny.toml, if `cargo deny` is not installed.

    supply.py [ADVISORIES]

Checks licences, banned crates, wildcard versions and sources, as reported by `cargo metadata`. ADVISORIES is a
folder with a copy of RustSec's advisory database; without it, known vulnerabilities are not checked and a note is
printed. Called by scripts/check/supply.sh.
"""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ADVISORIES = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
RULES = tomllib.loads(pathlib.Path(".cargo/deny.toml").read_text())


def packages():
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    metadata = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(metadata.stdout)["packages"]


# ---------------------------------------------------------------- licences


def permits(expression, allowed):
    """Whether the allowed licences satisfy an SPDX expression."""
    # The old spelling of OR.
    expression = re.sub(r"\s*/\s*", " OR ", expression)
    expression = re.sub(r"(\S+) WITH (\S+)", r"\1+WITH+\2", expression)
    tokens = re.findall(r"[()]|[^\s()]+", expression)

    def atom():
        token = tokens.pop(0)
        if token == "(":
            value = either()
            tokens.pop(0)
            return value
        return token.replace("+WITH+", " WITH ") in allowed

    def both():
        value = atom()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = atom() and value
        return value

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    return either()


def licence_faults(crates):
    licences = RULES["licenses"]
    exceptions = {entry["crate"]: entry["allow"] for entry in licences.get("exceptions", [])}
    for crate in crates:
        if crate["publish"] == []:
            continue
        allowed = set(licences["allow"]) | set(exceptions.get(crate["name"], []))
        expression = crate["license"] or "no licence"
        if not permits(expression, allowed):
            yield f"{crate['name']} {crate['version']} is under {expression}, which .cargo/deny.toml does not allow"


# ---------------------------------------------------------------- bans and sources


def ban_faults(crates):
    banned = {entry["crate"] for entry in RULES["bans"]["deny"]}
    for crate in crates:
        if crate["name"] in banned:
            yield f"{crate['name']} is banned by .cargo/deny.toml"
        if crate["source"] is None:
            for dependency in crate["dependencies"]:
                if dependency["req"] == "*" and dependency["path"] is None:
                    yield f"{crate['name']} accepts any version of {dependency['name']}"


def source_faults(crates):
    allowed = {f"registry+{registry}" for registry in RULES["sources"]["allow-registry"]}
    for crate in crates:
        if crate["source"] is not None and crate["source"] not in allowed:
            yield f"{crate['name']} {crate['version']} comes from {crate['source']}"


# ---------------------------------------------------------------- advisories


def version(text):
    """A sort key for a semantic version; missing parts count as zero."""
    text = text.split("+")[0]
    numbers, _, prerelease = text.partition("-")
    parts = [int(number) for number in numbers.split(".")]
    parts += [0] * (3 - len(parts))
    # A release sorts after its pre-releases.
    pre = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in prerelease.split(".")] if prerelease else [(2, 0, "")]
    return parts, pre


def meets(candidate, requirement):
    """Whether a version meets a requirement such as `>= 1.2, < 2` or `^0.4.1`."""
    for part in requirement.split(","):
        operator, text = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*", part).groups()
        if text == "*":
            continue
        bound, here = version(text), version(candidate)
        given = len(text.split("-")[0].split("."))
        if operator in (None, "^", "~"):
            numbers = bound[0]
            if operator == "~":
                fixed = min(given, 2)
            else:
                fixed = next((i + 1 for i, number in enumerate(numbers) if number), given)
            holds = here >= bound and here[0][:fixed] == numbers[:fixed]
        else:
            holds = {">=": here >= bound, "<=": here <= bound, ">": here > bound, "<": here < bound,
                     "=": here[0][:given] == bound[0][:given] and here[1] == bound[1]}[operator]
        if not holds:
            return False
    return True


def advisories(folder):
    """The advisories of a database copy, by crate."""
    by_crate = {}
    for file in sorted((folder / "crates").glob("*/*.md")):
        head = re.match(r"```toml\n(.*?)```", file.read_text(), re.S)
        if head:
            entry = tomllib.loads(head.group(1))
            by_crate.setdefault(entry["advisory"]["package"], []).append(entry)
    return by_crate


def advisory_faults(crates, folder):
    by_crate = advisories(folder)
    if not by_crate:
        yield f"{folder} contains no advisories; expected a copy of RustSec's advisory database"
    ignored = RULES["advisories"].get("ignore", [])
    ignored = {entry if isinstance(entry, str) else entry["id"] for entry in ignored}
    for crate in crates:
        for entry in by_crate.get(crate["name"], []):
            advisory, versions = entry["advisory"], entry.get("versions", {})
            safe = versions.get("patched", []) + versions.get("unaffected", [])
            # Like `cargo deny`: a crate that is only unmaintained is not a fault.
            if advisory.get("informational") or advisory.get("withdrawn") or advisory["id"] in ignored:
                continue
            if not any(meets(crate["version"], requirement) for requirement in safe):
                yield f"{crate['name']} {crate['version']}: {advisory['id']}, fixed in {versions.get('patched') or 'no version'}"


def main():
    crates = packages()
    faults = [*licence_faults(crates), *ban_faults(crates), *source_faults(crates)]
    checked = "licences, bans and sources"
    if ADVISORIES:
        faults += advisory_faults(crates, ADVISORIES)
        checked = "licences, bans, sources and advisories"
    for fault in faults:
        print(f"  {fault}")
    print(f"{len(crates)} crates: {checked}, {len(faults)} faults")
    if not ADVISORIES:
        print("note: known vulnerabilities of crates were not checked; set SHOTLOG_ADVISORIES to a copy of "
              "https://github.com/rustsec/advisory-db")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
