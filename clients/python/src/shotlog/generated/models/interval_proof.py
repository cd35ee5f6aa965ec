from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.proof_moment import ProofMoment


T = TypeVar("T", bound="IntervalProof")


@_attrs_define
class IntervalProof:
    """The moments that prove a term.

    Attributes:
        term (Any): The term or, for a relation that is negated, the relation.
        absent (bool): Whether the term is negated. The moments are then the parts of the span in which it is known
            not to hold.
        moments (list[ProofMoment]): The first moments, in chronological order.
        more (int | Unset): Number of further moments; absent if there are none.
    """

    term: Any
    absent: bool
    moments: list[ProofMoment]
    more: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        term = self.term

        absent = self.absent

        moments = []
        for moments_item_data in self.moments:
            moments_item = moments_item_data.to_dict()
            moments.append(moments_item)

        more = self.more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "term": term,
                "absent": absent,
                "moments": moments,
            }
        )
        if more is not UNSET:
            field_dict["more"] = more

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.proof_moment import ProofMoment  # noqa: PLC0415

        d = dict(src_dict)
        term = d.pop("term")

        absent = d.pop("absent")

        moments = []
        _moments = d.pop("moments")
        for moments_item_data in _moments:
            moments_item = ProofMoment.from_dict(moments_item_data)

            moments.append(moments_item)

        more = d.pop("more", UNSET)

        interval_proof = cls(
            term=term,
            absent=absent,
            moments=moments,
            more=more,
        )

        interval_proof.additional_properties = d
        return interval_proof

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
