from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.boundary import Boundary


T = TypeVar("T", bound="Preview")


@_attrs_define
class Preview:
    """
    Attributes:
        video_id (str): Id of the video.
        chunk_config (str): Id of the chunking configuration.
        chunks (int): Number of chunks.
        boundaries (list[Boundary]): The boundaries between the chunks, in chronological order.
    """

    video_id: str
    chunk_config: str
    chunks: int
    boundaries: list[Boundary]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        chunk_config = self.chunk_config

        chunks = self.chunks

        boundaries = []
        for boundaries_item_data in self.boundaries:
            boundaries_item = boundaries_item_data.to_dict()
            boundaries.append(boundaries_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "chunk_config": chunk_config,
                "chunks": chunks,
                "boundaries": boundaries,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.boundary import Boundary  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        chunk_config = d.pop("chunk_config")

        chunks = d.pop("chunks")

        boundaries = []
        _boundaries = d.pop("boundaries")
        for boundaries_item_data in _boundaries:
            boundaries_item = Boundary.from_dict(boundaries_item_data)

            boundaries.append(boundaries_item)

        preview = cls(
            video_id=video_id,
            chunk_config=chunk_config,
            chunks=chunks,
            boundaries=boundaries,
        )

        preview.additional_properties = d
        return preview

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
