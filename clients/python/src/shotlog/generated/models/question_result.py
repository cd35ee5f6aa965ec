from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.question_result_results import QuestionResultResults


T = TypeVar("T", bound="QuestionResult")


@_attrs_define
class QuestionResult:
    """
    Attributes:
        id (str): Id of the question.
        absent (bool): Whether no moment answers the question.
        results (QuestionResultResults): Results for each configuration, by configuration name.
    """

    id: str
    absent: bool
    results: QuestionResultResults
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        absent = self.absent

        results = self.results.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "absent": absent,
                "results": results,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.question_result_results import QuestionResultResults  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        absent = d.pop("absent")

        results = QuestionResultResults.from_dict(d.pop("results"))

        question_result = cls(
            id=id,
            absent=absent,
            results=results,
        )

        question_result.additional_properties = d
        return question_result

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
