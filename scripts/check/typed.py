"""Checks that client generators produce a type for every operation of the OpenAPI document.

    typed.py DOCUMENT PYTHON_CLIENT TYPESCRIPT_FILE

PYTHON_CLIENT is the output of openapi-python-client, TYPESCRIPT_FILE that of openapi-typescript. Exits with 1 and
names the operations that are missing, or have `Any` or `unknown` as their response type. A response without a body
needs no type.
"""

import json
import pathlib
import re
import sys


def is_untyped(operation, generated_type):
    """Whether a generated response type, such as `Error | Job`, lacks the type of a successful response."""
    types = {part.strip() for part in generated_type.split("|")}
    responses = operation["responses"]
    if any(not one.get("content") for one in responses.values()):
        # The generated type of a response without a body.
        types.discard("Any")
    with_body = any(one.get("content") for status, one in responses.items() if status.startswith("2"))
    # A response that the generator cannot parse is omitted, and only the errors remain.
    return with_body and ("Any" in types or types <= {"Error"})


def python_problems(operations, client):
    for name, operation in operations.items():
        module = client / "api" / "default" / f"{name}.py"
        if not module.exists():
            yield f"{name}: missing in the output of openapi-python-client"
            continue
        signature = re.search(r"def sync_detailed\(.*?\) -> Response\[(.*?)\]:", module.read_text(), re.DOTALL)
        response = signature.group(1) if signature else "Any"
        if is_untyped(operation, response):
            yield f"{name}: openapi-python-client returns {response}"


def typescript_problems(operations, text):
    types = text[text.index("export interface operations {") :]
    for name in operations:
        operation = re.search(rf"^    {name}: \{{$(.*?)^    \}};$", types, re.DOTALL | re.MULTILINE)
        if not operation:
            yield f"{name}: missing in the output of openapi-typescript"
            continue
        for line in operation.group(1).splitlines():
            # Responses may have any headers.
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
    print(f"{len(operations)} operations of the OpenAPI document are typed by two generators")


if __name__ == "__main__":
    main()
