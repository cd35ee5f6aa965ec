from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.diagnostics import Diagnostics
    from ..models.probable_moment import ProbableMoment


T = TypeVar("T", bound="EvidenceResponse")


@_attrs_define
class EvidenceResponse:
    """
    Attributes:
        question (str): The question.
        p_present (float): Highest `p_present` among all moments that were found, from 0 to 1; 0 if there are none.
        moments (list[ProbableMoment]): The moments, most probable first.
        tokens (int): Number of tokens in `moments`.
        tokenizer (str): Name of the embedder whose tokenizer counted the tokens.
        next_ (str | Unset): Cursor for the remaining moments; absent if nothing is left.
        diagnostics (Diagnostics | Unset): Why a search has no results.
    """

    question: str
    p_present: float
    moments: list[ProbableMoment]
    tokens: int
    tokenizer: str
    next_: str | Unset = UNSET
    diagnostics: Diagnostics | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        question = self.question

        p_present = self.p_present

        moments = []
        for moments_item_data in self.moments:
            moments_item = moments_item_data.to_dict()
            moments.append(moments_item)

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
                "question": question,
                "p_present": p_present,
                "moments": moments,
                "tokens": tokens,
                "tokenizer": tokenizer,
            }
        )
        if next_ is not UNSET:
            field_dict["next"] = next_
        if diagnostics is not UNSET:
            field_dict["diagnostics"] = diagnostics

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.diagnostics import Diagnostics  # noqa: PLC0415
        from ..models.probable_moment import ProbableMoment  # noqa: PLC0415

        d = dict(src_dict)
        question = d.pop("question")

        p_present = d.pop("p_present")

        moments = []
        _moments = d.pop("moments")
        for moments_item_data in _moments:
            moments_item = ProbableMoment.from_dict(moments_item_data)

            moments.append(moments_item)

        tokens = d.pop("tokens")

        tokenizer = d.pop("tokenizer")

        next_ = d.pop("next", UNSET)

        _diagnostics = d.pop("diagnostics", UNSET)
        diagnostics: Diagnostics | Unset
        if isinstance(_diagnostics, Unset):
            diagnostics = UNSET
        else:
            diagnostics = Diagnostics.from_dict(_diagnostics)

        evidence_response = cls(
            question=question,
            p_present=p_present,
            moments=moments,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
            diagnostics=diagnostics,
        )

        evidence_response.additional_properties = d
        return evidence_response

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
