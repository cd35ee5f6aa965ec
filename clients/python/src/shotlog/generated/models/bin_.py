from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.bin_change_kind import BinChangeKind, check_bin_change_kind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Bin")


@_attrs_define
class Bin:
    """
    Attributes:
        bin_id (str): Id of the bin.
        name (str): Name of the bin.
        description (str): Description of the bin; empty if there is none.
        version (int): Version of the bin, which increases with every change. In quotes, it is the `ETag`.
        selects (int): Number of selects.
        duration (float): Total duration of the selects as trimmed, in seconds, without those whose video is missing.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        updated_at (str): Time of the last change (ISO 8601, UTC, to the second).
        undo_steps (int): Number of changes that can be undone.
        last_change (BinChangeKind | None): The change that `POST /bins/{bin_id}/undo` would undo; null if there is
            none.
        collection (str | Unset): Collection of the bin; absent if there is none.
    """

    bin_id: str
    name: str
    description: str
    version: int
    selects: int
    duration: float
    created_at: str
    updated_at: str
    undo_steps: int
    last_change: BinChangeKind | None
    collection: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        bin_id = self.bin_id

        name = self.name

        description = self.description

        version = self.version

        selects = self.selects

        duration = self.duration

        created_at = self.created_at

        updated_at = self.updated_at

        undo_steps = self.undo_steps

        last_change: None | str
        if isinstance(self.last_change, str):
            last_change = self.last_change
        else:
            last_change = self.last_change

        collection = self.collection

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "bin_id": bin_id,
                "name": name,
                "description": description,
                "version": version,
                "selects": selects,
                "duration": duration,
                "created_at": created_at,
                "updated_at": updated_at,
                "undo_steps": undo_steps,
                "last_change": last_change,
            }
        )
        if collection is not UNSET:
            field_dict["collection"] = collection

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        bin_id = d.pop("bin_id")

        name = d.pop("name")

        description = d.pop("description")

        version = d.pop("version")

        selects = d.pop("selects")

        duration = d.pop("duration")

        created_at = d.pop("created_at")

        updated_at = d.pop("updated_at")

        undo_steps = d.pop("undo_steps")

        def _parse_last_change(data: object) -> BinChangeKind | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_change_type_0 = check_bin_change_kind(data)

                return last_change_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BinChangeKind | None, data)

        last_change = _parse_last_change(d.pop("last_change"))

        collection = d.pop("collection", UNSET)

        bin_ = cls(
            bin_id=bin_id,
            name=name,
            description=description,
            version=version,
            selects=selects,
            duration=duration,
            created_at=created_at,
            updated_at=updated_at,
            undo_steps=undo_steps,
            last_change=last_change,
            collection=collection,
        )

        bin_.additional_properties = d
        return bin_

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
