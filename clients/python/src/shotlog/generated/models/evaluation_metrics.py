from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EvaluationMetrics")


@_attrs_define
class EvaluationMetrics:
    """Mean of each metric over the questions that have it, rounded to four decimals; null if no
    question has it. A hit matches a judged moment if the two overlap in time.

        Attributes:
            recall (float | None | Unset): Recall at k: fraction of the judged moments that are matched by a hit, from 0 to
                1.
            ndcg (float | None | Unset): Normalized discounted cumulative gain at k, from 0 to 1, with gain 2^grade − 1 and
                discount
                1 / log2(rank + 1). Hits are processed in order of rank. Each hit counts for the judged
                moment with the highest grade among those that it matches and that no earlier hit has
                counted for.
            reciprocal_rank (float | None | Unset): 1 / rank of the first hit that matches a judged moment; 0 if there is
                none.
            overlap (float | None | Unset): Highest temporal intersection over union of a hit and a judged moment, from 0 to
                1.
            judged (float | None | Unset): Precision: fraction of the hits for answerable questions that match a judged
                moment, from 0
                to 1.
            false_presence (float | None | Unset): Fraction of the absent questions that are reported as present, from 0 to
                1.
            false_absence (float | None | Unset): Fraction of the answerable questions that are reported as absent, from 0
                to 1.
            answered (float | None | Unset): Fraction of the answerable questions that `/ask` answers, from 0 to 1.
            false_answer (float | None | Unset): Fraction of the absent questions that `/ask` answers, from 0 to 1.
            supported (float | None | Unset): Fraction of an answer's sentences, including removed ones, that the cited
                moments support,
                from 0 to 1.
    """

    recall: float | None | Unset = UNSET
    ndcg: float | None | Unset = UNSET
    reciprocal_rank: float | None | Unset = UNSET
    overlap: float | None | Unset = UNSET
    judged: float | None | Unset = UNSET
    false_presence: float | None | Unset = UNSET
    false_absence: float | None | Unset = UNSET
    answered: float | None | Unset = UNSET
    false_answer: float | None | Unset = UNSET
    supported: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        recall: float | None | Unset
        if isinstance(self.recall, Unset):
            recall = UNSET
        else:
            recall = self.recall

        ndcg: float | None | Unset
        if isinstance(self.ndcg, Unset):
            ndcg = UNSET
        else:
            ndcg = self.ndcg

        reciprocal_rank: float | None | Unset
        if isinstance(self.reciprocal_rank, Unset):
            reciprocal_rank = UNSET
        else:
            reciprocal_rank = self.reciprocal_rank

        overlap: float | None | Unset
        if isinstance(self.overlap, Unset):
            overlap = UNSET
        else:
            overlap = self.overlap

        judged: float | None | Unset
        if isinstance(self.judged, Unset):
            judged = UNSET
        else:
            judged = self.judged

        false_presence: float | None | Unset
        if isinstance(self.false_presence, Unset):
            false_presence = UNSET
        else:
            false_presence = self.false_presence

        false_absence: float | None | Unset
        if isinstance(self.false_absence, Unset):
            false_absence = UNSET
        else:
            false_absence = self.false_absence

        answered: float | None | Unset
        if isinstance(self.answered, Unset):
            answered = UNSET
        else:
            answered = self.answered

        false_answer: float | None | Unset
        if isinstance(self.false_answer, Unset):
            false_answer = UNSET
        else:
            false_answer = self.false_answer

        supported: float | None | Unset
        if isinstance(self.supported, Unset):
            supported = UNSET
        else:
            supported = self.supported

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
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
        if false_presence is not UNSET:
            field_dict["false_presence"] = false_presence
        if false_absence is not UNSET:
            field_dict["false_absence"] = false_absence
        if answered is not UNSET:
            field_dict["answered"] = answered
        if false_answer is not UNSET:
            field_dict["false_answer"] = false_answer
        if supported is not UNSET:
            field_dict["supported"] = supported

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_recall(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        recall = _parse_recall(d.pop("recall", UNSET))

        def _parse_ndcg(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        ndcg = _parse_ndcg(d.pop("ndcg", UNSET))

        def _parse_reciprocal_rank(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        reciprocal_rank = _parse_reciprocal_rank(d.pop("reciprocal_rank", UNSET))

        def _parse_overlap(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        overlap = _parse_overlap(d.pop("overlap", UNSET))

        def _parse_judged(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        judged = _parse_judged(d.pop("judged", UNSET))

        def _parse_false_presence(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        false_presence = _parse_false_presence(d.pop("false_presence", UNSET))

        def _parse_false_absence(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        false_absence = _parse_false_absence(d.pop("false_absence", UNSET))

        def _parse_answered(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        answered = _parse_answered(d.pop("answered", UNSET))

        def _parse_false_answer(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        false_answer = _parse_false_answer(d.pop("false_answer", UNSET))

        def _parse_supported(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        supported = _parse_supported(d.pop("supported", UNSET))

        evaluation_metrics = cls(
            recall=recall,
            ndcg=ndcg,
            reciprocal_rank=reciprocal_rank,
            overlap=overlap,
            judged=judged,
            false_presence=false_presence,
            false_absence=false_absence,
            answered=answered,
            false_answer=false_answer,
            supported=supported,
        )

        evaluation_metrics.additional_properties = d
        return evaluation_metrics

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
