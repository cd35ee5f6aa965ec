from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.judged_question import JudgedQuestion


T = TypeVar("T", bound="EvaluationRequest")


@_attrs_define
class EvaluationRequest:
    """
    Attributes:
        questions (list[JudgedQuestion]): The judged questions.
    """

    questions: list[JudgedQuestion]

    def to_dict(self) -> dict[str, Any]:
        questions = []
        for questions_item_data in self.questions:
            questions_item = questions_item_data.to_dict()
            questions.append(questions_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "questions": questions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.judged_question import JudgedQuestion  # noqa: PLC0415

        d = dict(src_dict)
        questions = []
        _questions = d.pop("questions")
        for questions_item_data in _questions:
            questions_item = JudgedQuestion.from_dict(questions_item_data)

            questions.append(questions_item)

        evaluation_request = cls(
            questions=questions,
        )

        return evaluation_request
