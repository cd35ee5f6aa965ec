from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Judgement")


@_attrs_define
class Judgement:
    """A moment that answers a question, given either by `moment_id` or by `video_id`, `start` and
    `end`.

        Attributes:
            moment_id (str | Unset): Id of the moment, as in hits and citations.
            video_id (str | Unset): Id of the video, instead of `moment_id`.
            start (float | Unset): Start of the moment, in seconds from the start of the video.
            end (float | Unset): End of the moment, in seconds from the start of the video.
            grade (int | Unset): Relevance grade from 1 to 3, where 3 is the most relevant. Default: 1. Default: 1.
    """

    moment_id: str | Unset = UNSET
    video_id: str | Unset = UNSET
    start: float | Unset = UNSET
    end: float | Unset = UNSET
    grade: int | Unset = 1
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        video_id = self.video_id

        start = self.start

        end = self.end

        grade = self.grade

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if moment_id is not UNSET:
            field_dict["moment_id"] = moment_id
        if video_id is not UNSET:
            field_dict["video_id"] = video_id
        if start is not UNSET:
            field_dict["start"] = start
        if end is not UNSET:
            field_dict["end"] = end
        if grade is not UNSET:
            field_dict["grade"] = grade

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment_id = d.pop("moment_id", UNSET)

        video_id = d.pop("video_id", UNSET)

        start = d.pop("start", UNSET)

        end = d.pop("end", UNSET)

        grade = d.pop("grade", UNSET)

        judgement = cls(
            moment_id=moment_id,
            video_id=video_id,
            start=start,
            end=end,
            grade=grade,
        )

        judgement.additional_properties = d
        return judgement

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
