from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AnnotateRequest")


@_attrs_define
class AnnotateRequest:
    """Changes to a video. Absent fields are not changed.

    Attributes:
        metadata (Any | Unset): User metadata by key; null removes a key. Default: {}.
        collection (None | str | Unset): Collection of the video; null removes the video from its collection.
        recorded_at (None | str | Unset): Recording time of the first frame (ISO 8601); null if unknown.
    """

    metadata: Any | Unset = {}
    collection: None | str | Unset = UNSET
    recorded_at: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        metadata = self.metadata

        collection: None | str | Unset
        if isinstance(self.collection, Unset):
            collection = UNSET
        else:
            collection = self.collection

        recorded_at: None | str | Unset
        if isinstance(self.recorded_at, Unset):
            recorded_at = UNSET
        else:
            recorded_at = self.recorded_at

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if collection is not UNSET:
            field_dict["collection"] = collection
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        metadata = d.pop("metadata", UNSET)

        def _parse_collection(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        collection = _parse_collection(d.pop("collection", UNSET))

        def _parse_recorded_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at", UNSET))

        annotate_request = cls(
            metadata=metadata,
            collection=collection,
            recorded_at=recorded_at,
        )

        return annotate_request
