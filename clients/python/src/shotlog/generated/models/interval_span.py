from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.interval_proof import IntervalProof


T = TypeVar("T", bound="IntervalSpan")


@_attrs_define
class IntervalSpan:
    """A span in which the expression holds.

    Attributes:
        moment_id (str): Stable id of the span, for `GET /moments/{moment_id}`.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        proofs (list[IntervalProof]): The moments that prove the terms, for each term that has any in the span.
    """

    moment_id: str
    start: float
    end: float
    timecode: str
    proofs: list[IntervalProof]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        start = self.start

        end = self.end

        timecode = self.timecode

        proofs = []
        for proofs_item_data in self.proofs:
            proofs_item = proofs_item_data.to_dict()
            proofs.append(proofs_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "start": start,
                "end": end,
                "timecode": timecode,
                "proofs": proofs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.interval_proof import IntervalProof  # noqa: PLC0415

        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        proofs = []
        _proofs = d.pop("proofs")
        for proofs_item_data in _proofs:
            proofs_item = IntervalProof.from_dict(proofs_item_data)

            proofs.append(proofs_item)

        interval_span = cls(
            moment_id=moment_id,
            start=start,
            end=end,
            timecode=timecode,
            proofs=proofs,
        )

        interval_span.additional_properties = d
        return interval_span

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
