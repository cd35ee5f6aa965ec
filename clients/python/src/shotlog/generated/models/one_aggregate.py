from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="OneAggregate")


@_attrs_define
class OneAggregate:
    """
    Attributes:
        video_id (str): Id of the video.
        aggregator (str): Id of the aggregator.
        result (Any): Result of the aggregator; `GET /schema` returns its schema under `results`.
        tokens (int | Unset): Number of tokens in `result`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the remaining parts; absent if nothing is left. Lists and objects in `result`
            contain only the elements of this response.
    """

    video_id: str
    aggregator: str
    result: Any
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        aggregator = self.aggregator

        result = self.result

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "aggregator": aggregator,
                "result": result,
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
        d = dict(src_dict)
        video_id = d.pop("video_id")

        aggregator = d.pop("aggregator")

        result = d.pop("result")

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        one_aggregate = cls(
            video_id=video_id,
            aggregator=aggregator,
            result=result,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
        )

        one_aggregate.additional_properties = d
        return one_aggregate

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
