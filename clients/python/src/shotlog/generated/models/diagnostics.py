from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.diagnostics_found_by_others import DiagnosticsFoundByOthers
    from ..models.diagnostics_hits_without_filter import DiagnosticsHitsWithoutFilter


T = TypeVar("T", bound="Diagnostics")


@_attrs_define
class Diagnostics:
    """Why a search has no results.

    Attributes:
        hits_without_filter (DiagnosticsHitsWithoutFilter): For each filter, the number of hits that the search would
            have without that filter.
        videos_without_analyzer (list[str]): Ids of searched videos that have no output from the analyzer; at most 20.
        videos_without_field (list[str]): Ids of searched videos that have output from the analyzer but no vectors in
            the field; at
            most 20.
        unknown_videos (list[str]): Requested video ids that do not exist; at most 20.
        best_score (float | None): Highest cosine similarity among the chunks that match the filters; null if no chunk
            matches.
        found_by_others (DiagnosticsFoundByOthers | Unset): Highest `p_present` from each other analyzer with a probable
            hit, by analyzer id; absent if
            there is none.
    """

    hits_without_filter: DiagnosticsHitsWithoutFilter
    videos_without_analyzer: list[str]
    videos_without_field: list[str]
    unknown_videos: list[str]
    best_score: float | None
    found_by_others: DiagnosticsFoundByOthers | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        hits_without_filter = self.hits_without_filter.to_dict()

        videos_without_analyzer = self.videos_without_analyzer

        videos_without_field = self.videos_without_field

        unknown_videos = self.unknown_videos

        best_score: float | None
        best_score = self.best_score

        found_by_others: dict[str, Any] | Unset = UNSET
        if not isinstance(self.found_by_others, Unset):
            found_by_others = self.found_by_others.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "hits_without_filter": hits_without_filter,
                "videos_without_analyzer": videos_without_analyzer,
                "videos_without_field": videos_without_field,
                "unknown_videos": unknown_videos,
                "best_score": best_score,
            }
        )
        if found_by_others is not UNSET:
            field_dict["found_by_others"] = found_by_others

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.diagnostics_found_by_others import DiagnosticsFoundByOthers  # noqa: PLC0415
        from ..models.diagnostics_hits_without_filter import (
            DiagnosticsHitsWithoutFilter,  # noqa: PLC0415
        )

        d = dict(src_dict)
        hits_without_filter = DiagnosticsHitsWithoutFilter.from_dict(d.pop("hits_without_filter"))

        videos_without_analyzer = cast(list[str], d.pop("videos_without_analyzer"))

        videos_without_field = cast(list[str], d.pop("videos_without_field"))

        unknown_videos = cast(list[str], d.pop("unknown_videos"))

        def _parse_best_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        best_score = _parse_best_score(d.pop("best_score"))

        _found_by_others = d.pop("found_by_others", UNSET)
        found_by_others: DiagnosticsFoundByOthers | Unset
        if isinstance(_found_by_others, Unset):
            found_by_others = UNSET
        else:
            found_by_others = DiagnosticsFoundByOthers.from_dict(_found_by_others)

        diagnostics = cls(
            hits_without_filter=hits_without_filter,
            videos_without_analyzer=videos_without_analyzer,
            videos_without_field=videos_without_field,
            unknown_videos=unknown_videos,
            best_score=best_score,
            found_by_others=found_by_others,
        )

        diagnostics.additional_properties = d
        return diagnostics

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
