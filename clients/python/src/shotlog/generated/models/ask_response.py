from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.ask_response_sources import AskResponseSources
    from ..models.audited_sentence import AuditedSentence
    from ..models.standard_result import StandardResult


T = TypeVar("T", bound="AskResponse")


@_attrs_define
class AskResponse:
    """
    Attributes:
        question (str): The question.
        answer (None | str): The answer, with citations; null if none was generated.
        sources (AskResponseSources): What each video contributed to the answer, by video id.
        results (list[StandardResult]): Supporting moments, best match first.
        answered (bool | Unset): Whether the question is answered; false if the answer only says that no moment answers
            it.
            Absent if there is no answer.
        audit (list[AuditedSentence] | Unset): How well the cited moments support each sentence of the answer; absent if
            there is no
            answer.
        answer_error (str | Unset): `TypeName: message` if generating the answer failed; sources and results are still
            valid.
        error (str | Unset): Why nothing was found; present only if there are no sources.
    """

    question: str
    answer: None | str
    sources: AskResponseSources
    results: list[StandardResult]
    answered: bool | Unset = UNSET
    audit: list[AuditedSentence] | Unset = UNSET
    answer_error: str | Unset = UNSET
    error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        question = self.question

        answer: None | str
        answer = self.answer

        sources = self.sources.to_dict()

        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        answered = self.answered

        audit: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.audit, Unset):
            audit = []
            for audit_item_data in self.audit:
                audit_item = audit_item_data.to_dict()
                audit.append(audit_item)

        answer_error = self.answer_error

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "question": question,
                "answer": answer,
                "sources": sources,
                "results": results,
            }
        )
        if answered is not UNSET:
            field_dict["answered"] = answered
        if audit is not UNSET:
            field_dict["audit"] = audit
        if answer_error is not UNSET:
            field_dict["answer_error"] = answer_error
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.ask_response_sources import AskResponseSources  # noqa: PLC0415
        from ..models.audited_sentence import AuditedSentence  # noqa: PLC0415
        from ..models.standard_result import StandardResult  # noqa: PLC0415

        d = dict(src_dict)
        question = d.pop("question")

        def _parse_answer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answer = _parse_answer(d.pop("answer"))

        sources = AskResponseSources.from_dict(d.pop("sources"))

        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = StandardResult.from_dict(results_item_data)

            results.append(results_item)

        answered = d.pop("answered", UNSET)

        _audit = d.pop("audit", UNSET)
        audit: list[AuditedSentence] | Unset = UNSET
        if _audit is not UNSET:
            audit = []
            for audit_item_data in _audit:
                audit_item = AuditedSentence.from_dict(audit_item_data)

                audit.append(audit_item)

        answer_error = d.pop("answer_error", UNSET)

        error = d.pop("error", UNSET)

        ask_response = cls(
            question=question,
            answer=answer,
            sources=sources,
            results=results,
            answered=answered,
            audit=audit,
            answer_error=answer_error,
            error=error,
        )

        ask_response.additional_properties = d
        return ask_response

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
