from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.correction_of import CorrectionOf, check_correction_of

T = TypeVar("T", bound="Correction")


@_attrs_define
class Correction:
    """
    Attributes:
        id (str): Id of the correction, for `DELETE /videos/{video_id}/corrections/{correction_id}`.
        of (CorrectionOf): What a correction applies to: a speaker, spoken words, on-screen text, a person, or the title
            of a
            chapter.
        from_ (str): The replaced text.
        to (str): The replacement.
        start (float | None): Start of the corrected range, in seconds from the start of the video; null for the whole
            video.
        end (float | None): End of the corrected range, in seconds from the start of the video; null for the whole
            video.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        places (int): Number of places that the correction currently applies to; 0 if a later run of the models
            produced different text.
        spans (list[list[float]]): Places that the correction applies to, each as `[start, end]` in seconds from the
            start of
            the video; at most 1000.
    """

    id: str
    of: CorrectionOf
    from_: str
    to: str
    start: float | None
    end: float | None
    created_at: str
    places: int
    spans: list[list[float]]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        of: str = self.of

        from_ = self.from_

        to = self.to

        start: float | None
        start = self.start

        end: float | None
        end = self.end

        created_at = self.created_at

        places = self.places

        spans = []
        for spans_item_data in self.spans:
            spans_item = spans_item_data

            spans.append(spans_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "of": of,
                "from": from_,
                "to": to,
                "start": start,
                "end": end,
                "created_at": created_at,
                "places": places,
                "spans": spans,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

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

        created_at = d.pop("created_at")

        places = d.pop("places")

        spans = []
        _spans = d.pop("spans")
        for spans_item_data in _spans:
            spans_item = cast(list[float], spans_item_data)

            spans.append(spans_item)

        correction = cls(
            id=id,
            of=of,
            from_=from_,
            to=to,
            start=start,
            end=end,
            created_at=created_at,
            places=places,
            spans=spans,
        )

        correction.additional_properties = d
        return correction

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
