from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.detector import Detector, check_detector

T = TypeVar("T", bound="Vote")


@_attrs_define
class Vote:
    """
    Attributes:
        detector (Detector): A boundary detector.
        time (float): Time that the detector reports, in seconds from the start of the video.
        score (float): Strength of the vote multiplied by the detector's weight.
    """

    detector: Detector
    time: float
    score: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        detector: str = self.detector

        time = self.time

        score = self.score

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "detector": detector,
                "time": time,
                "score": score,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        detector = check_detector(d.pop("detector"))

        time = d.pop("time")

        score = d.pop("score")

        vote = cls(
            detector=detector,
            time=time,
            score=score,
        )

        vote.additional_properties = d
        return vote

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
