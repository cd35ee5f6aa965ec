from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alert_match_verdict import AlertMatchVerdict, check_alert_match_verdict
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.alert_delivery import AlertDelivery


T = TypeVar("T", bound="AlertMatch")


@_attrs_define
class AlertMatch:
    """A moment that an alert has found.

    Attributes:
        match_id (str): Id of the match. The same moment has the same id whenever the alert finds it again.
        alert (str): Name of the alert.
        moment_id (str): Id of the moment; `GET /moments/{moment_id}` reads it.
        video_id (str): Id of the video.
        filename (str): File name of the video.
        start (float): Start, in seconds from the start of the video.
        end (float): End, in seconds from the start of the video.
        timecode (str): Start and end as `M:SS.ss-M:SS.ss`.
        snippet (str): The first 180 characters of the moment's text when it was found.
        score (float): Cosine similarity to the search of the alert when the moment was found, from 0 to 1; 0 if the
            alert has only filters.
        p_present (float): Probability that the moment contained what the alert searches for, from 0 to 1; 1 if the
            alert
            has only filters.
        video_url (str): Public storage URL of the video.
        frame_url (str): Path of the frame in the middle of the moment; takes `width` like other frames.
        recorded_at (None | str): Wall-clock time of the start (ISO 8601, UTC); null if the recording time is unknown.
        found_at (str): Time at which the moment was found (ISO 8601, UTC, to the millisecond).
        read (bool): Whether the match has been marked as read.
        delivery (AlertDelivery | None): Delivery to the webhook; null if the alert had no webhook when it found the
            moment.
        verdict (AlertMatchVerdict | Unset):
        note (str | Unset): The reason that the user gave; absent if there is none.
        handled_by (str | Unset): Name of the person who judged; absent while the match is open.
        handled_at (str | Unset): Time of the judgement (ISO 8601, UTC, to the second); absent while the match is open.
    """

    match_id: str
    alert: str
    moment_id: str
    video_id: str
    filename: str
    start: float
    end: float
    timecode: str
    snippet: str
    score: float
    p_present: float
    video_url: str
    frame_url: str
    recorded_at: None | str
    found_at: str
    read: bool
    delivery: AlertDelivery | None
    verdict: AlertMatchVerdict | Unset = UNSET
    note: str | Unset = UNSET
    handled_by: str | Unset = UNSET
    handled_at: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.alert_delivery import AlertDelivery  # noqa: PLC0415

        match_id = self.match_id

        alert = self.alert

        moment_id = self.moment_id

        video_id = self.video_id

        filename = self.filename

        start = self.start

        end = self.end

        timecode = self.timecode

        snippet = self.snippet

        score = self.score

        p_present = self.p_present

        video_url = self.video_url

        frame_url = self.frame_url

        recorded_at: None | str
        recorded_at = self.recorded_at

        found_at = self.found_at

        read = self.read

        delivery: dict[str, Any] | None
        if isinstance(self.delivery, AlertDelivery):
            delivery = self.delivery.to_dict()
        else:
            delivery = self.delivery

        verdict: str | Unset = UNSET
        if not isinstance(self.verdict, Unset):
            verdict = self.verdict

        note = self.note

        handled_by = self.handled_by

        handled_at = self.handled_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "match_id": match_id,
                "alert": alert,
                "moment_id": moment_id,
                "video_id": video_id,
                "filename": filename,
                "start": start,
                "end": end,
                "timecode": timecode,
                "snippet": snippet,
                "score": score,
                "p_present": p_present,
                "video_url": video_url,
                "frame_url": frame_url,
                "recorded_at": recorded_at,
                "found_at": found_at,
                "read": read,
                "delivery": delivery,
            }
        )
        if verdict is not UNSET:
            field_dict["verdict"] = verdict
        if note is not UNSET:
            field_dict["note"] = note
        if handled_by is not UNSET:
            field_dict["handled_by"] = handled_by
        if handled_at is not UNSET:
            field_dict["handled_at"] = handled_at

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.alert_delivery import AlertDelivery  # noqa: PLC0415

        d = dict(src_dict)
        match_id = d.pop("match_id")

        alert = d.pop("alert")

        moment_id = d.pop("moment_id")

        video_id = d.pop("video_id")

        filename = d.pop("filename")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        snippet = d.pop("snippet")

        score = d.pop("score")

        p_present = d.pop("p_present")

        video_url = d.pop("video_url")

        frame_url = d.pop("frame_url")

        def _parse_recorded_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        recorded_at = _parse_recorded_at(d.pop("recorded_at"))

        found_at = d.pop("found_at")

        read = d.pop("read")

        def _parse_delivery(data: object) -> AlertDelivery | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                delivery_type_0 = AlertDelivery.from_dict(data)

                return delivery_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AlertDelivery | None, data)

        delivery = _parse_delivery(d.pop("delivery"))

        _verdict = d.pop("verdict", UNSET)
        verdict: AlertMatchVerdict | Unset
        if isinstance(_verdict, Unset):
            verdict = UNSET
        else:
            verdict = check_alert_match_verdict(_verdict)

        note = d.pop("note", UNSET)

        handled_by = d.pop("handled_by", UNSET)

        handled_at = d.pop("handled_at", UNSET)

        alert_match = cls(
            match_id=match_id,
            alert=alert,
            moment_id=moment_id,
            video_id=video_id,
            filename=filename,
            start=start,
            end=end,
            timecode=timecode,
            snippet=snippet,
            score=score,
            p_present=p_present,
            video_url=video_url,
            frame_url=frame_url,
            recorded_at=recorded_at,
            found_at=found_at,
            read=read,
            delivery=delivery,
            verdict=verdict,
            note=note,
            handled_by=handled_by,
            handled_at=handled_at,
        )

        alert_match.additional_properties = d
        return alert_match

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
