"""Checks that generators of clients give every operation of the API document a type.

    typed.py DOCUMENT PYTHON_CLIENT TYPESCRIPT_FILE

PYTHON_CLIENT is what openapi-python-client made of the document, TYPESCRIPT_FILE what openapi-typescript made. Ends
with 1 and names the operations that are missing, or whose answer is `Any` or `unknown`. An answer that has no body
has no type.
"""

import json
import pathlib
import re
import sys


def untyped(operation, answer):
    """Whether the type of a generator's answer, such as `Error | Job`, says nothing of what a success has."""
    types = {part.strip() for part in answer.split("|")}
    answers = operation["responses"]
    if any(not one.get("content") for one in answers.values()):
        # An answer without a body is typed so.
        types.discard("Any")
    with_body = any(one.get("content") for status, one in answers.items() if status.startswith("2"))
    # An answer that the generator cannot make sense of is left out, and the errors remain.
    return with_body and ("Any" in types or types <= {"Error"})


def python_problems(operations, client):
    for name, operation in operations.items():
        module = client / "api" / "default" / f"{name}.py"
        if not module.exists():
            yield f"{name}: openapi-python-client leaves it out"
            continue
        typed = re.search(r"def sync_detailed\(.*?\) -> Response\[(.*?)\]:", module.read_text(), re.DOTALL)
        answer = typed.group(1) if typed else "Any"
        if untyped(operation, answer):
            yield f"{name}: openapi-python-client answers {answer}"


def typescript_problems(operations, text):
    typed = text[text.index("export interface operations {") :]
    for name in operations:
        found = re.search(rf"^    {name}: \{{$(.*?)^    \}};$", typed, re.DOTALL | re.MULTILINE)
        if not found:
            yield f"{name}: openapi-typescript leaves it out"
            continue
        for line in found.group(1).splitlines():
            # Answers may have any headers.
            if re.search(r"\bunknown\b", line.replace("[name: string]: unknown", "")):
                yield f"{name}: openapi-typescript has {line.strip()}"


def main():
    document, client, typescript = map(pathlib.Path, sys.argv[1:])
    paths = json.loads(document.read_text())["paths"].values()
    operations = {operation["operationId"]: operation for path in paths for operation in path.values()}
    problems = [*python_problems(operations, client), *typescript_problems(operations, typescript.read_text())]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"{len(operations)} operations of the served document are typed by two generators")


if __name__ == "__main__":
    main()
