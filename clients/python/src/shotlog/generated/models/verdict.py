from typing import Literal, cast

Verdict = Literal["supported", "unsupported", "weak"]


def check_verdict(value: str) -> Verdict:
    return cast(Verdict, value)
