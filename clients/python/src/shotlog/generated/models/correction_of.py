from typing import Literal, cast

CorrectionOf = Literal["chapter", "person", "screen_text", "speaker", "words"]


def check_correction_of(value: str) -> CorrectionOf:
    return cast(CorrectionOf, value)
