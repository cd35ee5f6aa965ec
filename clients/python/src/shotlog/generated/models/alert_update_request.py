from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="AlertUpdateRequest")


@_attrs_define
class AlertUpdateRequest:
    """Changes to an alert. Absent fields are not changed.

    Attributes:
        name (str | Unset): The new name: 1 to 64 characters of `a`-`z`, `0`-`9`, `_` and `-`. No other alert may have
            it.
        text (str | Unset): The new search text; empty if the alert has only filters.
        mode (None | str | Unset): The new search mode; null for the default.
        analyzer (str | Unset): Id of the analyzer whose output is searched, or `*` for all analyzers.
        field (str | Unset): Vector field to search.
        filters (Any | Unset): The new filters, which replace all current ones.
        score_threshold (float | None | Unset): Minimum cosine similarity of a match, from 0 to 1; null for no minimum.
        min_p_present (float | Unset): Minimum `p_present` of a match, from 0 to 1.
        limit (int | Unset): Maximum number of moments per video, from 1 to 50.
        webhook (None | str | Unset): The new webhook URL; null to remove it.
        paused (bool | Unset): Whether the alert is paused.
    """

    name: str | Unset = UNSET
    text: str | Unset = UNSET
    mode: None | str | Unset = UNSET
    analyzer: str | Unset = UNSET
    field: str | Unset = UNSET
    filters: Any | Unset = UNSET
    score_threshold: float | None | Unset = UNSET
    min_p_present: float | Unset = UNSET
    limit: int | Unset = UNSET
    webhook: None | str | Unset = UNSET
    paused: bool | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

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

        paused = self.paused

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
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
        if paused is not UNSET:
            field_dict["paused"] = paused

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name", UNSET)

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

        paused = d.pop("paused", UNSET)

        alert_update_request = cls(
            name=name,
            text=text,
            mode=mode,
            analyzer=analyzer,
            field=field,
            filters=filters,
            score_threshold=score_threshold,
            min_p_present=min_p_present,
            limit=limit,
            webhook=webhook,
            paused=paused,
        )

        return alert_update_request
