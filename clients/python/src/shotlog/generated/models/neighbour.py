from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.says import Says


T = TypeVar("T", bound="Neighbour")


@_attrs_define
class Neighbour:
    """A chunk next to a moment.

    Attributes:
        moment_id (str): Id of the moment with the same span as the chunk.
        chunk_id (int): Id of the chunk.
        says (list[Says]): Statements about the chunk; empty if the response already contains them in another moment.
    """

    moment_id: str
    chunk_id: int
    says: list[Says]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        chunk_id = self.chunk_id

        says = []
        for says_item_data in self.says:
            says_item = says_item_data.to_dict()
            says.append(says_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "chunk_id": chunk_id,
                "says": says,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.says import Says  # noqa: PLC0415

        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        chunk_id = d.pop("chunk_id")

        says = []
        _says = d.pop("says")
        for says_item_data in _says:
            says_item = Says.from_dict(says_item_data)

            says.append(says_item)

        neighbour = cls(
            moment_id=moment_id,
            chunk_id=chunk_id,
            says=says,
        )

        neighbour.additional_properties = d
        return neighbour

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
