from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.all_aggregates_aggregates import AllAggregatesAggregates


T = TypeVar("T", bound="AllAggregates")


@_attrs_define
class AllAggregates:
    """
    Attributes:
        video_id (str): Id of the video.
        available (list[str]): Ids of the aggregators that have a stored result.
        aggregates (AllAggregatesAggregates): The results, by aggregator id. `GET /schema` returns their schemas under
            `results`.
        tokens (int | Unset): Number of tokens in `aggregates`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the remaining parts; absent if nothing is left.
    """

    video_id: str
    available: list[str]
    aggregates: AllAggregatesAggregates
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        available = self.available

        aggregates = self.aggregates.to_dict()

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "available": available,
                "aggregates": aggregates,
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
        from ..models.all_aggregates_aggregates import AllAggregatesAggregates  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        available = cast(list[str], d.pop("available"))

        aggregates = AllAggregatesAggregates.from_dict(d.pop("aggregates"))

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        all_aggregates = cls(
            video_id=video_id,
            available=available,
            aggregates=aggregates,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
        )

        all_aggregates.additional_properties = d
        return all_aggregates

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
