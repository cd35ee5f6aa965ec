from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.missing_moment import MissingMoment
    from ..models.moment import Moment


T = TypeVar("T", bound="ReadMoments")


@_attrs_define
class ReadMoments:
    """
    Attributes:
        moments (list[Moment]): The moments, in the order of the request.
        missing (list[MissingMoment]): Moments that cannot be read, because their video was deleted or because they lie
            outside the
            video.
        tokens (int | Unset): Number of tokens in `moments` and `missing`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the remaining moments; absent if nothing is left. A response contains at most
            500
            chunks in total.
    """

    moments: list[Moment]
    missing: list[MissingMoment]
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moments = []
        for moments_item_data in self.moments:
            moments_item = moments_item_data.to_dict()
            moments.append(moments_item)

        missing = []
        for missing_item_data in self.missing:
            missing_item = missing_item_data.to_dict()
            missing.append(missing_item)

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moments": moments,
                "missing": missing,
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
        from ..models.missing_moment import MissingMoment  # noqa: PLC0415
        from ..models.moment import Moment  # noqa: PLC0415

        d = dict(src_dict)
        moments = []
        _moments = d.pop("moments")
        for moments_item_data in _moments:
            moments_item = Moment.from_dict(moments_item_data)

            moments.append(moments_item)

        missing = []
        _missing = d.pop("missing")
        for missing_item_data in _missing:
            missing_item = MissingMoment.from_dict(missing_item_data)

            missing.append(missing_item)

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        read_moments = cls(
            moments=moments,
            missing=missing,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
        )

        read_moments.additional_properties = d
        return read_moments

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
