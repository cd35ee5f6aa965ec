from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.chunk import Chunk


T = TypeVar("T", bound="ChunkPage")


@_attrs_define
class ChunkPage:
    """
    Attributes:
        video_id (str): Id of the video.
        analyzers (list[str]): Ids of the analyzers that have output for the video.
        total (int): Number of chunks that match the filters, on all pages.
        offset (int): Number of chunks before this page.
        limit (int): Maximum number of chunks per page.
        chunks (list[Chunk]): The chunks of the page, in chronological order.
        tokens (int | Unset): Number of tokens in `chunks`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the remaining chunks; present if `max_tokens` truncated the page.
    """

    video_id: str
    analyzers: list[str]
    total: int
    offset: int
    limit: int
    chunks: list[Chunk]
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        analyzers = self.analyzers

        total = self.total

        offset = self.offset

        limit = self.limit

        chunks = []
        for chunks_item_data in self.chunks:
            chunks_item = chunks_item_data.to_dict()
            chunks.append(chunks_item)

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "analyzers": analyzers,
                "total": total,
                "offset": offset,
                "limit": limit,
                "chunks": chunks,
            }
        )
        if tokens is not UNSET:
            field_dict["tokens"] = tokens
        if tokenizer is not UNSET:
            field_dict["tokenizer"] = tokenizer
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.chunk import Chunk  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        analyzers = cast(list[str], d.pop("analyzers"))

        total = d.pop("total")

        offset = d.pop("offset")

        limit = d.pop("limit")

        chunks = []
        _chunks = d.pop("chunks")
        for chunks_item_data in _chunks:
            chunks_item = Chunk.from_dict(chunks_item_data)

            chunks.append(chunks_item)

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        chunk_page = cls(
            video_id=video_id,
            analyzers=analyzers,
            total=total,
            offset=offset,
            limit=limit,
            chunks=chunks,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
        )

        chunk_page.additional_properties = d
        return chunk_page

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
