from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BinRequest")


@_attrs_define
class BinRequest:
    """
    Attributes:
        name (str): Name of the bin.
        description (str | Unset): Description of the bin. Default: ''.
        collection (None | str | Unset): Collection of the bin. A bin in a collection can contain only selects of the
            collection's
            videos, and tokens that are limited to the collection can use it. Null: the collection of the
            token if it is limited to one, otherwise none.
    """

    name: str
    description: str | Unset = ""
    collection: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        description = self.description

        collection: None | str | Unset
        if isinstance(self.collection, Unset):
            collection = UNSET
        else:
            collection = self.collection

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if collection is not UNSET:
            field_dict["collection"] = collection

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        description = d.pop("description", UNSET)

        def _parse_collection(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        collection = _parse_collection(d.pop("collection", UNSET))

        bin_request = cls(
            name=name,
            description=description,
            collection=collection,
        )

        return bin_request
