from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ShareRequest")


@_attrs_define
class ShareRequest:
    """A part of a video to share.

    Attributes:
        start (float | None | Unset): Start of the part, in seconds from the start of the video. Null: the start of the
            video.
        end (float | None | Unset): End of the part, in seconds from the start of the video. Null: the end of the video.
        title (None | str | Unset): The title that the page shows, at most 200 characters. Null: the title of the video
            (`metadata.title`), or its file name if it has none.
        expires_in (int | None | Unset): Seconds until the link expires, at most `shares.max_expiry`. Null:
            `shares.default_expiry`.
    """

    start: float | None | Unset = UNSET
    end: float | None | Unset = UNSET
    title: None | str | Unset = UNSET
    expires_in: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        start: float | None | Unset
        if isinstance(self.start, Unset):
            start = UNSET
        else:
            start = self.start

        end: float | None | Unset
        if isinstance(self.end, Unset):
            end = UNSET
        else:
            end = self.end

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        expires_in: int | None | Unset
        if isinstance(self.expires_in, Unset):
            expires_in = UNSET
        else:
            expires_in = self.expires_in

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if start is not UNSET:
            field_dict["start"] = start
        if end is not UNSET:
            field_dict["end"] = end
        if title is not UNSET:
            field_dict["title"] = title
        if expires_in is not UNSET:
            field_dict["expires_in"] = expires_in

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_start(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        start = _parse_start(d.pop("start", UNSET))

        def _parse_end(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        end = _parse_end(d.pop("end", UNSET))

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        def _parse_expires_in(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        expires_in = _parse_expires_in(d.pop("expires_in", UNSET))

        share_request = cls(
            start=start,
            end=end,
            title=title,
            expires_in=expires_in,
        )

        return share_request
