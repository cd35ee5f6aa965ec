from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.appearance_kind import AppearanceKind, check_appearance_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Appearance")


@_attrs_define
class Appearance:
    """A span in which a person is visible or speaks.

    Attributes:
        moment_id (str): Stable id of the span, for `GET /moments/{moment_id}`.
        video_id (str): Id of the video.
        filename (str): File name of the video.
        kind (AppearanceKind): How an appearance is known: the person is visible, or speaks.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        title (str | Unset): The metadata key `title` of the video; absent if it has none.
        recorded_at (str | Unset): Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
    """

    moment_id: str
    video_id: str
    filename: str
    kind: AppearanceKind
    start: float
    end: float
    timecode: str
    title: str | Unset = UNSET
    recorded_at: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        video_id = self.video_id

        filename = self.filename

        kind: str = self.kind

        start = self.start

        end = self.end

        timecode = self.timecode

        title = self.title

        recorded_at = self.recorded_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "video_id": video_id,
                "filename": filename,
                "kind": kind,
                "start": start,
                "end": end,
                "timecode": timecode,
            }
        )
        if title is not UNSET:
            field_dict["title"] = title
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        video_id = d.pop("video_id")

        filename = d.pop("filename")

        kind = check_appearance_kind(d.pop("kind"))

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        title = d.pop("title", UNSET)

        recorded_at = d.pop("recorded_at", UNSET)

        appearance = cls(
            moment_id=moment_id,
            video_id=video_id,
            filename=filename,
            kind=kind,
            start=start,
            end=end,
            timecode=timecode,
            title=title,
            recorded_at=recorded_at,
        )

        appearance.additional_properties = d
        return appearance

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
