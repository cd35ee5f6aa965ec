#!/usr/bin/env python3
"""Downloads one file of a wheel without downloading the whole wheel.

    wheel_member.py NAME==VERSION MEMBER FILE

Uses the registry that pip is configured for. Fails if that registry has no wheel for CPython 3.11 on x86_64 Linux, or
does not support range requests; use `pip download` then.
"""

import ast
import shutil
import subprocess
import sys
from urllib.parse import urljoin

import requests
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version
from remotezip import RemoteZip

REGISTRY = "https://pypi.org/simple"  # pip's own default
LISTING = "application/vnd.pypi.simple.v1+json"
TIMEOUT = 60  # seconds without a byte


def main():
    requirement, member, file = sys.argv[1:]
    name, version = requirement.split("==")
    session = requests.Session()
    session.verify = pip_setting("cert") or True
    url = wheel(session, pip_setting("index-url") or REGISTRY, name, Version(version))
    with RemoteZip(url, session=session, timeout=TIMEOUT) as archive, archive.open(member) as source:
        with open(file, "wb") as target:
            shutil.copyfileobj(source, target)


def pip_setting(key):
    """A setting of pip, from the environment or else its files; None if it is not set."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    settings = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    values = {}
    for line in settings.splitlines():
        section, _, value = line.partition(f".{key}=")
        if value:
            values[section] = ast.literal_eval(value)
    return values.get(":env:", next(iter(values.values()), None))


def wheel(session, registry, name, version):
    page = session.get(
        f"{registry.rstrip('/')}/{canonicalize_name(name)}/", headers={"Accept": LISTING}, timeout=TIMEOUT
    )
    page.raise_for_status()
    wheels = (file for file in page.json()["files"] if file["filename"].endswith(".whl"))
    for file in wheels:
        _, wheel_version, _, tags = parse_wheel_filename(file["filename"])
        if wheel_version == version and any(map(is_compatible, tags)):
            return urljoin(page.url, file["url"])
    sys.exit(f"the registry has no wheel of {name} {version} for this platform")


def is_compatible(tag):
    is_linux = tag.platform.startswith("manylinux") and tag.platform.endswith("x86_64")
    return tag.interpreter in ("py3", "cp311") and (tag.platform == "any" or is_linux)


if __name__ == "__main__":
    main()
