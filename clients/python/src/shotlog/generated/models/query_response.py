from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audited_sentence import AuditedSentence
    from ..models.diagnostics import Diagnostics
    from ..models.full_result import FullResult
    from ..models.minimal_result import MinimalResult
    from ..models.standard_result import StandardResult


T = TypeVar("T", bound="QueryResponse")


@_attrs_define
class QueryResponse:
    """
    Attributes:
        query (str): The search text; empty if there is none.
        analyzer (str): Id of the searched analyzer, or `*`.
        field (str): The searched vector field.
        detail (str): The level of detail.
        answer (None | str): The generated answer, with citations; null if `synthesize` is false or nothing matched.
        results (list[FullResult | MinimalResult | StandardResult]): The results: best match first in a search, in the
            requested order in a listing.
        answered (bool | Unset): Whether the query is answered; false if the answer only says that no moment answers it.
            Absent if there is no answer.
        audit (list[AuditedSentence] | Unset): How well the cited moments support each sentence of the answer; absent if
            there is no
            answer.
        answer_error (str | Unset): `TypeName: message` if generating the answer failed; the results are still valid.
        tokens (int | Unset): Number of tokens in `results`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the results that `max_tokens` cut off, or for the next page if `pages` is set.
            Absent if nothing is left.
        diagnostics (Diagnostics | Unset): Why a search has no results.
    """

    query: str
    analyzer: str
    field: str
    detail: str
    answer: None | str
    results: list[FullResult | MinimalResult | StandardResult]
    answered: bool | Unset = UNSET
    audit: list[AuditedSentence] | Unset = UNSET
    answer_error: str | Unset = UNSET
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    diagnostics: Diagnostics | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.full_result import FullResult  # noqa: PLC0415
        from ..models.standard_result import StandardResult  # noqa: PLC0415

        query = self.query

        analyzer = self.analyzer

        field = self.field

        detail = self.detail

        answer: None | str
        answer = self.answer

        results = []
        for results_item_data in self.results:
            results_item: dict[str, Any]
            if isinstance(results_item_data, FullResult):
                results_item = results_item_data.to_dict()
            elif isinstance(results_item_data, StandardResult):
                results_item = results_item_data.to_dict()
            else:
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

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        diagnostics: dict[str, Any] | Unset = UNSET
        if not isinstance(self.diagnostics, Unset):
            diagnostics = self.diagnostics.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "query": query,
                "analyzer": analyzer,
                "field": field,
                "detail": detail,
                "answer": answer,
                "results": results,
            }
        )
        if answered is not UNSET:
            field_dict["answered"] = answered
        if audit is not UNSET:
            field_dict["audit"] = audit
        if answer_error is not UNSET:
            field_dict["answer_error"] = answer_error
        if tokens is not UNSET:
            field_dict["tokens"] = tokens
        if tokenizer is not UNSET:
            field_dict["tokenizer"] = tokenizer
        if next_ is not UNSET:
            field_dict["next"] = next_
        if diagnostics is not UNSET:
            field_dict["diagnostics"] = diagnostics

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.audited_sentence import AuditedSentence  # noqa: PLC0415
        from ..models.diagnostics import Diagnostics  # noqa: PLC0415
        from ..models.full_result import FullResult  # noqa: PLC0415
        from ..models.minimal_result import MinimalResult  # noqa: PLC0415
        from ..models.standard_result import StandardResult  # noqa: PLC0415

        d = dict(src_dict)
        query = d.pop("query")

        analyzer = d.pop("analyzer")

        field = d.pop("field")

        detail = d.pop("detail")

        def _parse_answer(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        answer = _parse_answer(d.pop("answer"))

        results = []
        _results = d.pop("results")
        for results_item_data in _results:

            def _parse_results_item(data: object) -> FullResult | MinimalResult | StandardResult:
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    componentsschemas_search_result_type_0 = FullResult.from_dict(data)

                    return componentsschemas_search_result_type_0
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                try:
                    if not isinstance(data, dict):
                        raise TypeError()
                    componentsschemas_search_result_type_1 = StandardResult.from_dict(data)

                    return componentsschemas_search_result_type_1
                except (TypeError, ValueError, AttributeError, KeyError):
                    pass
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_search_result_type_2 = MinimalResult.from_dict(data)

                return componentsschemas_search_result_type_2

            results_item = _parse_results_item(results_item_data)

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

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        _diagnostics = d.pop("diagnostics", UNSET)
        diagnostics: Diagnostics | Unset
        if isinstance(_diagnostics, Unset):
            diagnostics = UNSET
        else:
            diagnostics = Diagnostics.from_dict(_diagnostics)

        query_response = cls(
            query=query,
            analyzer=analyzer,
            field=field,
            detail=detail,
            answer=answer,
            results=results,
            answered=answered,
            audit=audit,
            answer_error=answer_error,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
            diagnostics=diagnostics,
        )

        query_response.additional_properties = d
        return query_response

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
