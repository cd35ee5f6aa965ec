from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.new_correction import NewCorrection


T = TypeVar("T", bound="CorrectionRequest")


@_attrs_define
class CorrectionRequest:
    """
    Attributes:
        corrections (list[NewCorrection]): The corrections, applied in order; each one applies to the result of the
            previous ones.
    """

    corrections: list[NewCorrection]

    def to_dict(self) -> dict[str, Any]:
        corrections = []
        for corrections_item_data in self.corrections:
            corrections_item = corrections_item_data.to_dict()
            corrections.append(corrections_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "corrections": corrections,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.new_correction import NewCorrection  # noqa: PLC0415

        d = dict(src_dict)
        corrections = []
        _corrections = d.pop("corrections")
        for corrections_item_data in _corrections:
            corrections_item = NewCorrection.from_dict(corrections_item_data)

            corrections.append(corrections_item)

        correction_request = cls(
            corrections=corrections,
        )

        return correction_request
