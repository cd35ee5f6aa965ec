from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.failed_delivery import FailedDelivery


T = TypeVar("T", bound="Alert")


@_attrs_define
class Alert:
    """
    Attributes:
        name (str): Name of the alert.
        mode (None | str): Search mode: `vector`, `text` or `hybrid`. Null: `vector` for one analyzer, `hybrid` for
            `*`.
        score_threshold (float | None): Minimum cosine similarity of a match, from 0 to 1. Null: no minimum.
        webhook (None | str): Webhook URL, without credentials or query values; null if there is none.
        paused (bool): Whether the alert is paused, so that it finds nothing in videos that are ingested now.
        created_at (str): Creation time (ISO 8601, UTC, to the second).
        delivered (int): Number of successful deliveries.
        last_delivered_at (None | str): Time of the last successful delivery (ISO 8601, UTC, to the second); null before
            the first
            one.
        failed (list[FailedDelivery]): Failed deliveries and searches, newest last; `POST /alerts/{name}/retry` retries
            them.
        matches (int): Number of stored matches, which `GET /alerts/{name}/matches` lists.
        unread (int): Number of stored matches that are unread.
        confirmed (int): Number of stored matches that users have confirmed.
        false_alarms (int): Number of stored matches that users have judged to be false alarms.
        text (str | Unset): Search text; empty if the alert has only filters. Returns 422 if there are no filters
            either. Default: ''.
        analyzer (str | Unset): Id of the analyzer whose output is searched, or `*` for all analyzers. Default: `*`.
            Default: '*'.
        field (str | Unset): Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
            Default: 'combined'.
        filters (Any | Unset): Hard filters that must all match, as in `/query`. Default: {}.
        min_p_present (float | Unset): Minimum `p_present` of a match, from 0 to 1. Without `text`, it does not apply.
            Default: 0.5. Default: 0.5.
        limit (int | Unset): Maximum number of moments per video. Default: 50. Default: 50.
    """

    name: str
    mode: None | str
    score_threshold: float | None
    webhook: None | str
    paused: bool
    created_at: str
    delivered: int
    last_delivered_at: None | str
    failed: list[FailedDelivery]
    matches: int
    unread: int
    confirmed: int
    false_alarms: int
    text: str | Unset = ""
    analyzer: str | Unset = "*"
    field: str | Unset = "combined"
    filters: Any | Unset = {}
    min_p_present: float | Unset = 0.5
    limit: int | Unset = 50
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        mode: None | str
        mode = self.mode

        score_threshold: float | None
        score_threshold = self.score_threshold

        webhook: None | str
        webhook = self.webhook

        paused = self.paused

        created_at = self.created_at

        delivered = self.delivered

        last_delivered_at: None | str
        last_delivered_at = self.last_delivered_at

        failed = []
        for failed_item_data in self.failed:
            failed_item = failed_item_data.to_dict()
            failed.append(failed_item)

        matches = self.matches

        unread = self.unread

        confirmed = self.confirmed

        false_alarms = self.false_alarms

        text = self.text

        analyzer = self.analyzer

        field = self.field

        filters = self.filters

        min_p_present = self.min_p_present

        limit = self.limit

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "mode": mode,
                "score_threshold": score_threshold,
                "webhook": webhook,
                "paused": paused,
                "created_at": created_at,
                "delivered": delivered,
                "last_delivered_at": last_delivered_at,
                "failed": failed,
                "matches": matches,
                "unread": unread,
                "confirmed": confirmed,
                "false_alarms": false_alarms,
            }
        )
        if text is not UNSET:
            field_dict["text"] = text
        if analyzer is not UNSET:
            field_dict["analyzer"] = analyzer
        if field is not UNSET:
            field_dict["field"] = field
        if filters is not UNSET:
            field_dict["filters"] = filters
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if limit is not UNSET:
            field_dict["limit"] = limit

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.failed_delivery import FailedDelivery  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        def _parse_mode(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        mode = _parse_mode(d.pop("mode"))

        def _parse_score_threshold(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score_threshold = _parse_score_threshold(d.pop("score_threshold"))

        def _parse_webhook(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        webhook = _parse_webhook(d.pop("webhook"))

        paused = d.pop("paused")

        created_at = d.pop("created_at")

        delivered = d.pop("delivered")

        def _parse_last_delivered_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_delivered_at = _parse_last_delivered_at(d.pop("last_delivered_at"))

        failed = []
        _failed = d.pop("failed")
        for failed_item_data in _failed:
            failed_item = FailedDelivery.from_dict(failed_item_data)

            failed.append(failed_item)

        matches = d.pop("matches")

        unread = d.pop("unread")

        confirmed = d.pop("confirmed")

        false_alarms = d.pop("false_alarms")

        text = d.pop("text", UNSET)

        analyzer = d.pop("analyzer", UNSET)

        field = d.pop("field", UNSET)

        filters = d.pop("filters", UNSET)

        min_p_present = d.pop("min_p_present", UNSET)

        limit = d.pop("limit", UNSET)

        alert = cls(
            name=name,
            mode=mode,
            score_threshold=score_threshold,
            webhook=webhook,
            paused=paused,
            created_at=created_at,
            delivered=delivered,
            last_delivered_at=last_delivered_at,
            failed=failed,
            matches=matches,
            unread=unread,
            confirmed=confirmed,
            false_alarms=false_alarms,
            text=text,
            analyzer=analyzer,
            field=field,
            filters=filters,
            min_p_present=min_p_present,
            limit=limit,
        )

        alert.additional_properties = d
        return alert

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
