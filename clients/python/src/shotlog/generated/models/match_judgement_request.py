from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.alert_match_verdict import AlertMatchVerdict, check_alert_match_verdict
from ..types import UNSET, Unset

T = TypeVar("T", bound="MatchJudgementRequest")


@_attrs_define
class MatchJudgementRequest:
    """Whether an alert was right to find a moment.

    Attributes:
        verdict (AlertMatchVerdict | None | Unset): `confirmed`: the moment has what the alert is for; `false_alarm`: it
            does not; null: the match
            is open again.
        note (None | str | Unset): The reason, or what was done, at most `alerts.max_note_chars` characters. Null: none.
        author (None | str | Unset): Name of the person who judges, at most 100 characters, if the token has no name.
            Null: the
            name of the token, or `anonymous`.
    """

    verdict: AlertMatchVerdict | None | Unset = UNSET
    note: None | str | Unset = UNSET
    author: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        verdict: None | str | Unset
        if isinstance(self.verdict, Unset):
            verdict = UNSET
        elif isinstance(self.verdict, str):
            verdict = self.verdict
        else:
            verdict = self.verdict

        note: None | str | Unset
        if isinstance(self.note, Unset):
            note = UNSET
        else:
            note = self.note

        author: None | str | Unset
        if isinstance(self.author, Unset):
            author = UNSET
        else:
            author = self.author

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if verdict is not UNSET:
            field_dict["verdict"] = verdict
        if note is not UNSET:
            field_dict["note"] = note
        if author is not UNSET:
            field_dict["author"] = author

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_verdict(data: object) -> AlertMatchVerdict | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                verdict_type_0 = check_alert_match_verdict(data)

                return verdict_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AlertMatchVerdict | None | Unset, data)

        verdict = _parse_verdict(d.pop("verdict", UNSET))

        def _parse_note(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        note = _parse_note(d.pop("note", UNSET))

        def _parse_author(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author = _parse_author(d.pop("author", UNSET))

        match_judgement_request = cls(
            verdict=verdict,
            note=note,
            author=author,
        )

        return match_judgement_request
