from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SearchConfiguration")


@_attrs_define
class SearchConfiguration:
    """A search configuration. Fields with the same name as in `/query` have the same meaning.

    Attributes:
        name (str | Unset): Name of the configuration, used in the results; 1 to 64 characters. Default: `default`.
            Default: 'default'.
        mode (None | str | Unset): Search mode: `vector`, `text` or `hybrid`. Null: `vector` for one analyzer, `hybrid`
            for
            `*`.
        analyzer (str | Unset): Id of the analyzer whose output is searched, or `*` for all analyzers. Default:
            `default_video`. Default: 'default_video'.
        field (str | Unset): Vector field to search, one of the `vector_fields` in `GET /schema`. Default: `combined`.
            Default: 'combined'.
        limit (int | Unset): Maximum number of hits per search, which is the k of the metrics. Default: 5. Default: 5.
        score_threshold (float | None | Unset): Minimum `score` of a hit, from 0 to 1. Null: no minimum.
        min_p_present (float | None | Unset): Minimum `p_present` of a hit, from 0 to 1, also for `/ask`. A match is
            reported as present
            if a hit reaches this value. Null: no minimum for hits; 0.5 for reporting a match as
            present.
        rerank (bool | Unset): Whether to re-rank hits, like `rerank` in `/query`. Default: false. Default: False.
        ask (bool | Unset): Whether to also send each question to `/ask`, which retrieves its own evidence. Default:
            false. Default: False.
    """

    name: str | Unset = "default"
    mode: None | str | Unset = UNSET
    analyzer: str | Unset = "default_video"
    field: str | Unset = "combined"
    limit: int | Unset = 5
    score_threshold: float | None | Unset = UNSET
    min_p_present: float | None | Unset = UNSET
    rerank: bool | Unset = False
    ask: bool | Unset = False
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        mode: None | str | Unset
        if isinstance(self.mode, Unset):
            mode = UNSET
        else:
            mode = self.mode

        analyzer = self.analyzer

        field = self.field

        limit = self.limit

        score_threshold: float | None | Unset
        if isinstance(self.score_threshold, Unset):
            score_threshold = UNSET
        else:
            score_threshold = self.score_threshold

        min_p_present: float | None | Unset
        if isinstance(self.min_p_present, Unset):
            min_p_present = UNSET
        else:
            min_p_present = self.min_p_present

        rerank = self.rerank

        ask = self.ask

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if mode is not UNSET:
            field_dict["mode"] = mode
        if analyzer is not UNSET:
            field_dict["analyzer"] = analyzer
        if field is not UNSET:
            field_dict["field"] = field
        if limit is not UNSET:
            field_dict["limit"] = limit
        if score_threshold is not UNSET:
            field_dict["score_threshold"] = score_threshold
        if min_p_present is not UNSET:
            field_dict["min_p_present"] = min_p_present
        if rerank is not UNSET:
            field_dict["rerank"] = rerank
        if ask is not UNSET:
            field_dict["ask"] = ask

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name", UNSET)

        def _parse_mode(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        mode = _parse_mode(d.pop("mode", UNSET))

        analyzer = d.pop("analyzer", UNSET)

        field = d.pop("field", UNSET)

        limit = d.pop("limit", UNSET)

        def _parse_score_threshold(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        score_threshold = _parse_score_threshold(d.pop("score_threshold", UNSET))

        def _parse_min_p_present(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        min_p_present = _parse_min_p_present(d.pop("min_p_present", UNSET))

        rerank = d.pop("rerank", UNSET)

        ask = d.pop("ask", UNSET)

        search_configuration = cls(
            name=name,
            mode=mode,
            analyzer=analyzer,
            field=field,
            limit=limit,
            score_threshold=score_threshold,
            min_p_present=min_p_present,
            rerank=rerank,
            ask=ask,
        )

        search_configuration.additional_properties = d
        return search_configuration

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
