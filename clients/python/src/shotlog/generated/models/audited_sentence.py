from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.verdict import Verdict, check_verdict

T = TypeVar("T", bound="AuditedSentence")


@_attrs_define
class AuditedSentence:
    """A sentence of an answer with the result of its audit. The audit compares the numbers, names,
    words and meaning of the sentence with those of the cited moments.

        Attributes:
            sentence (str): The sentence without its citations.
            citations (list[str]): The citations, as they appear in the answer.
            moments (list[str]): Ids of the cited moments, in the order of `citations`, for `GET /moments/{moment_id}`.
            verdict (Verdict):
    """

    sentence: str
    citations: list[str]
    moments: list[str]
    verdict: Verdict
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        sentence = self.sentence

        citations = self.citations

        moments = self.moments

        verdict: str = self.verdict

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "sentence": sentence,
                "citations": citations,
                "moments": moments,
                "verdict": verdict,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        sentence = d.pop("sentence")

        citations = cast(list[str], d.pop("citations"))

        moments = cast(list[str], d.pop("moments"))

        verdict = check_verdict(d.pop("verdict"))

        audited_sentence = cls(
            sentence=sentence,
            citations=citations,
            moments=moments,
            verdict=verdict,
        )

        audited_sentence.additional_properties = d
        return audited_sentence

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
