from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="EvaluationCounts")


@_attrs_define
class EvaluationCounts:
    """
    Attributes:
        questions (int): Number of questions.
        absent (int): Number of questions that no moment answers.
        judgements (int): Number of judged moments in all questions.
        runs (int): Number of stored runs.
    """

    questions: int
    absent: int
    judgements: int
    runs: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        questions = self.questions

        absent = self.absent

        judgements = self.judgements

        runs = self.runs

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "questions": questions,
                "absent": absent,
                "judgements": judgements,
                "runs": runs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        questions = d.pop("questions")

        absent = d.pop("absent")

        judgements = d.pop("judgements")

        runs = d.pop("runs")

        evaluation_counts = cls(
            questions=questions,
            absent=absent,
            judgements=judgements,
            runs=runs,
        )

        evaluation_counts.additional_properties = d
        return evaluation_counts

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
