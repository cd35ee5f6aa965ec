from typing import Literal, cast

Detector = Literal["cut", "semantic", "silence", "speaker"]


def check_detector(value: str) -> Detector:
    return cast(Detector, value)
