from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AlertRequest")


@_attrs_define
class AlertRequest:
    """
    Attributes:
        text (str | Unset): Search text; empty if the alert has only filters. Returns 422 if there are no filters
            either. Default: ''.
        mode (None | str | Unset): Search mode: `vector`, `text` or `hybrid`. Null: `vector` for one analyzer, `hybrid`
            for
            `*`.
        analyzer (str | Unset): Id of the analyzer whose output is searched, or `*` for all analyzers. Default: `*`.
            Default: '*'.
        field (str | Unset): Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
            Default: 'combined'.
        filters (Any | Unset): Hard filters that must all match, as in `/query`. Default: {}.
        score_threshold (float | None | Unset): Minimum cosine similarity of a match, from 0 to 1. Null: no minimum.
        min_p_present (float | Unset): Minimum `p_present` of a match, from 0 to 1. Without `text`, it does not apply.
            Default: 0.5. Default: 0.5.
        limit (int | Unset): Maximum number of moments per video. Default: 50. Default: 50.
        webhook (None | str | Unset): http(s) URL that receives matches. Private addresses are rejected. Returns 400 if
            this install
            sends no callbacks. Null: the matches are only stored.
    """

    text: str | Unset = ""
    mode: None | str | Unset = UNSET
    analyzer: str | Unset = "*"
    field: str | Unset = "combined"
    filters: Any | Unset = {}
    score_threshold: float | None | Unset = UNSET
    min_p_present: float | Unset = 0.5
    limit: int | Unset = 50
    webhook: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        text = self.text

        mode: None | str | Unset
        if isinstance(self.mode, Unset):
            mode = UNSET
        else:
            mode = self.mode

        analyzer = self.analyzer

        field = self.field

        filters = self.filters

        score_threshold: float | None | Unset
        if isinstance(self.score_threshold, Unset):
            score_threshold = UNSET
        else:
            score_threshold = self.score_threshold

        min_p_present = self.min_p_present

        limit = self.limit

        webhook: None | str | Unset
        if isinstance(self.webhook, Unset):
            webhook = UNSET
        else:
            webhook = self.webhook

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if text is not UNSET:
            field_dict["text"] = text
        if mode is not UNSET:
            field_dict["mode"] = mode
        if analyzer is not UNSET:
            field_dict["analyzer"] = analyzer
        if field is not UNSET:
            field_dict["field"] = field
        if filters is not UNSET:
            field_dict["filters"] = filters
        if score_threshold is not UNSET:
            field_dict["score_threshold"] = score_threshold
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if limit is not UNSET:
            field_dict["limit"] = limit
        if webhook is not UNSET:
            field_dict["webhook"] = webhook

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        text = d.pop("text", UNSET)

        def _parse_mode(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        mode = _parse_mode(d.pop("mode", UNSET))

        analyzer = d.pop("analyzer", UNSET)

        field = d.pop("field", UNSET)

        filters = d.pop("filters", UNSET)

        def _parse_score_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        score_threshold = _parse_score_threshold(d.pop("score_threshold", UNSET))

        min_p_present = d.pop("min_p_present", UNSET)

        limit = d.pop("limit", UNSET)

        def _parse_webhook(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        webhook = _parse_webhook(d.pop("webhook", UNSET))

        alert_request = cls(
            text=text,
            mode=mode,
            analyzer=analyzer,
            field=field,
            filters=filters,
            score_threshold=score_threshold,
            min_p_present=min_p_present,
            limit=limit,
            webhook=webhook,
        )

        return alert_request
