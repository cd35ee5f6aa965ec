from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.correction_of import CorrectionOf, check_correction_of

T = TypeVar("T", bound="NewCorrection")


@_attrs_define
class NewCorrection:
    """A correction to make: the text to replace, and its replacement.

    Attributes:
        of (CorrectionOf): What a correction applies to: a speaker, spoken words, on-screen text, a person, or the title
            of a
            chapter.
        from_ (str): The current text to replace: the label or name of a speaker, words (case and punctuation are
            ignored), the `entity_id` or name of a linked person, or the title of a chapter. Empty to add a
            chapter, which needs `start` and `end`; the chapters around it keep the rest.
        to (str): The replacement: a name, words or a title. If empty, the words are deleted; use this for words
            that were recognized but never spoken or shown. If it equals `from`, the words are marked as
            checked: they get the probability 1.
        start (float | None): Start of the range to correct, in seconds from the start of the video; requires `end`.
            Null:
            the whole video. Not allowed for people; of chapters with the same title, it names one.
        end (float | None): End of the range to correct, in seconds from the start of the video; requires `start`.
    """

    of: CorrectionOf
    from_: str
    to: str
    start: float | None
    end: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        of: str = self.of

        from_ = self.from_

        to = self.to

        start: float | None
        start = self.start

        end: float | None
        end = self.end

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "of": of,
                "from": from_,
                "to": to,
                "start": start,
                "end": end,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        of = check_correction_of(d.pop("of"))

        from_ = d.pop("from")

        to = d.pop("to")

        def _parse_start(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        start = _parse_start(d.pop("start"))

        def _parse_end(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        end = _parse_end(d.pop("end"))

        new_correction = cls(
            of=of,
            from_=from_,
            to=to,
            start=start,
            end=end,
        )

        new_correction.additional_properties = d
        return new_correction

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
