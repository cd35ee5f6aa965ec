from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TranscriptOutput")


@_attrs_define
class TranscriptOutput:
    """
    Attributes:
        text (str): The words spoken in the chunk.
        language (None | str): ISO 639-1 code of the spoken language; null if unknown.
        segments (list[Any]): Objects `{start, end, text, confidence}`. Times are in seconds from the start of the
            video;
            confidence ranges from 0 to 1.
    """

    text: str
    language: None | str
    segments: list[Any]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        language: None | str
        language = self.language

        segments = self.segments

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "text": text,
                "language": language,
                "segments": segments,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text")

        def _parse_language(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        language = _parse_language(d.pop("language"))

        segments = cast(list[Any], d.pop("segments"))

        transcript_output = cls(
            text=text,
            language=language,
            segments=segments,
        )

        transcript_output.additional_properties = d
        return transcript_output

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
