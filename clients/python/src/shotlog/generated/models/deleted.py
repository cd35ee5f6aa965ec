from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Deleted")


@_attrs_define
class Deleted:
    """
    Attributes:
        video_id (str): Id of the video.
        deleted (bool): Always true.
        objects (list[str]): Paths of the deleted objects in the storage bucket.
        storage_error (str | Unset): `TypeName: message` if deleting stored objects failed.
    """

    video_id: str
    deleted: bool
    objects: list[str]
    storage_error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        deleted = self.deleted

        objects = self.objects

        storage_error = self.storage_error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "deleted": deleted,
                "objects": objects,
            }
        )
        if storage_error is not UNSET:
            field_dict["storage_error"] = storage_error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        deleted = d.pop("deleted")

        objects = cast(list[str], d.pop("objects"))

        storage_error = d.pop("storage_error", UNSET)

        deleted = cls(
            video_id=video_id,
            deleted=deleted,
            objects=objects,
            storage_error=storage_error,
        )

        deleted.additional_properties = d
        return deleted

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
