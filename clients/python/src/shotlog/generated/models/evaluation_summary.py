from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.evaluation_counts import EvaluationCounts


T = TypeVar("T", bound="EvaluationSummary")


@_attrs_define
class EvaluationSummary:
    """
    Attributes:
        name (str): Name of the evaluation.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        updated_at (str): When the questions were last replaced (ISO 8601, UTC, to the second).
        revision (str): Hash of the questions. Only runs with the same revision are comparable.
        counts (EvaluationCounts):
    """

    name: str
    created_at: str
    updated_at: str
    revision: str
    counts: EvaluationCounts
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        created_at = self.created_at

        updated_at = self.updated_at

        revision = self.revision

        counts = self.counts.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "created_at": created_at,
                "updated_at": updated_at,
                "revision": revision,
                "counts": counts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.evaluation_counts import EvaluationCounts  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        revision = d.pop("revision")

        counts = EvaluationCounts.from_dict(d.pop("counts"))

        evaluation_summary = cls(
            name=name,
            created_at=created_at,
            updated_at=updated_at,
            revision=revision,
            counts=counts,
        )

        evaluation_summary.additional_properties = d
        return evaluation_summary

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
