from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.says_kind import SaysKind, check_says_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Says")


@_attrs_define
class Says:
    """A statement about a chunk. Identical statements from several analyzers appear only once.

    Attributes:
        kind (SaysKind): Source of a statement.
        text (str): The statement.
        speaker (str | Unset): The speaker, if known.
        start (float | Unset): Start time, in seconds from the start of the video; present if it is more precise than
            the
            start of the chunk.
        end (float | Unset): End time, in seconds from the start of the video; present if it is more precise than the
            end
            of the chunk.
    """

    kind: SaysKind
    text: str
    speaker: str | Unset = UNSET
    start: float | Unset = UNSET
    end: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind: str = self.kind

        text = self.text

        speaker = self.speaker

        start = self.start

        end = self.end

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "text": text,
            }
        )
        if speaker is not UNSET:
            field_dict["speaker"] = speaker
        if start is not UNSET:
            field_dict["start"] = start
        if end is not UNSET:
            field_dict["end"] = end

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        kind = check_says_kind(d.pop("kind"))

        text = d.pop("text")

        speaker = d.pop("speaker", UNSET)

        start = d.pop("start", UNSET)

        end = d.pop("end", UNSET)

        says = cls(
            kind=kind,
            text=text,
            speaker=speaker,
            start=start,
            end=end,
        )

        says.additional_properties = d
        return says

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
