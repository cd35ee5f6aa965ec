from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="JudgedHit")


@_attrs_define
class JudgedHit:
    """
    Attributes:
        moment_id (str): Id of the moment.
        p_present (float): Probability (0 to 1) that the moment really contains what was searched for.
        grade (int | None): Highest grade among the judged moments that the hit matches; null if it matches none.
    """

    moment_id: str
    p_present: float
    grade: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        p_present = self.p_present

        grade: int | None
        grade = self.grade

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "p_present": p_present,
                "grade": grade,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        p_present = d.pop("p_present")

        def _parse_grade(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        grade = _parse_grade(d.pop("grade"))

        judged_hit = cls(
            moment_id=moment_id,
            p_present=p_present,
            grade=grade,
        )

        judged_hit.additional_properties = d
        return judged_hit

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
