"""Runs the examples in the docstrings of the package against a running service.

tests/examples.py FOLDER

SHOTLOG_URL and SHOTLOG_TOKEN select the service. FOLDER contains harbour.mp4 and
talk.mp4, which is ingested first. Exits with 1
if an example fails, or if a class of the package has none.
"""

from __future__ import annotations

import doctest
import inspect
import os
import sys

import shotlog
from shotlog import _async, _options, _pictures, _sync, _transcript, aaf, errors

MODULES = [_async, _sync, _options, _pictures, _transcript, aaf, errors]


def classes_without_example() -> list[str]:
    names = [name for name in shotlog.__all__ if inspect.isclass(getattr(shotlog, name))]
    return [name for name in names if ">>>" not in (getattr(shotlog, name).__doc__ or "")]


def main() -> None:
    os.chdir(sys.argv[1])
    if missing := classes_without_example():
        raise SystemExit(f"these classes have no example: {', '.join(missing)}")
    with shotlog.Shotlog() as client:
        job = client.ingest_file("talk.mp4", analyzers="default_video,transcript", collection="harbour")
        client.wait(job.job_id)
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    examples = [test for module in MODULES for test in finder.find(module) if test.examples]
    for example in examples:
        runner.run(example)
    if runner.summarize().failed:
        raise SystemExit(1)
    print(f"python: {len(examples)} examples passed")


if __name__ == "__main__":
    main()
