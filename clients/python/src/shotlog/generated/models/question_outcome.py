from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.checked_answer import CheckedAnswer
    from ..models.judged_hit import JudgedHit


T = TypeVar("T", bound="QuestionOutcome")


@_attrs_define
class QuestionOutcome:
    """
    Attributes:
        hits (list[JudgedHit]): Hits, best match first.
        told_present (bool): Whether the search reports a match as present.
        search_ms (float): Search latency, in milliseconds.
        recall (float | Unset): Recall at k, from 0 to 1; omitted for absent questions.
        ndcg (float | Unset): Normalized discounted cumulative gain at k, from 0 to 1; omitted for absent questions.
        reciprocal_rank (float | Unset): 1 / rank of the first matching hit, or 0 if there is none; omitted for absent
            questions.
        overlap (float | Unset): Highest temporal intersection over union of a hit and a judged moment, from 0 to 1;
            omitted
            for absent questions.
        judged (float | Unset): Fraction of the hits that match a judged moment, from 0 to 1; omitted for absent
            questions
            and if there are no hits.
        answer (CheckedAnswer | Unset): Audit of an answer's sentences.
        ask_ms (float | Unset): Latency of `/ask`, in milliseconds; omitted if `/ask` was not called.
    """

    hits: list[JudgedHit]
    told_present: bool
    search_ms: float
    recall: float | Unset = UNSET
    ndcg: float | Unset = UNSET
    reciprocal_rank: float | Unset = UNSET
    overlap: float | Unset = UNSET
    judged: float | Unset = UNSET
    answer: CheckedAnswer | Unset = UNSET
    ask_ms: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hits = []
        for hits_item_data in self.hits:
            hits_item = hits_item_data.to_dict()
            hits.append(hits_item)

        told_present = self.told_present

        search_ms = self.search_ms

        recall = self.recall

        ndcg = self.ndcg

        reciprocal_rank = self.reciprocal_rank

        overlap = self.overlap

        judged = self.judged

        answer: dict[str, Any] | Unset = UNSET
        if not isinstance(self.answer, Unset):
            answer = self.answer.to_dict()

        ask_ms = self.ask_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hits": hits,
                "told_present": told_present,
                "search_ms": search_ms,
            }
        )
        if recall is not UNSET:
            field_dict["recall"] = recall
        if ndcg is not UNSET:
            field_dict["ndcg"] = ndcg
        if reciprocal_rank is not UNSET:
            field_dict["reciprocal_rank"] = reciprocal_rank
        if overlap is not UNSET:
            field_dict["overlap"] = overlap
        if judged is not UNSET:
            field_dict["judged"] = judged
        if answer is not UNSET:
            field_dict["answer"] = answer
        if ask_ms is not UNSET:
            field_dict["ask_ms"] = ask_ms

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.checked_answer import CheckedAnswer  # noqa: PLC0415
        from ..models.judged_hit import JudgedHit  # noqa: PLC0415

        d = dict(src_dict)
        hits = []
        _hits = d.pop("hits")
        for hits_item_data in _hits:
            hits_item = JudgedHit.from_dict(hits_item_data)

            hits.append(hits_item)

        told_present = d.pop("told_present")

        search_ms = d.pop("search_ms")

        recall = d.pop("recall", UNSET)

        ndcg = d.pop("ndcg", UNSET)

        reciprocal_rank = d.pop("reciprocal_rank", UNSET)

        overlap = d.pop("overlap", UNSET)

        judged = d.pop("judged", UNSET)

        _answer = d.pop("answer", UNSET)
        answer: CheckedAnswer | Unset
        if isinstance(_answer, Unset):
            answer = UNSET
        else:
            answer = CheckedAnswer.from_dict(_answer)

        ask_ms = d.pop("ask_ms", UNSET)

        question_outcome = cls(
            hits=hits,
            told_present=told_present,
            search_ms=search_ms,
            recall=recall,
            ndcg=ndcg,
            reciprocal_rank=reciprocal_rank,
            overlap=overlap,
            judged=judged,
            answer=answer,
            ask_ms=ask_ms,
        )

        question_outcome.additional_properties = d
        return question_outcome

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
