from typing import Literal, cast

CorrectionOf = Literal["person", "screen_text", "speaker", "words"]


def check_correction_of(value: str) -> CorrectionOf:
    return cast(CorrectionOf, value)
