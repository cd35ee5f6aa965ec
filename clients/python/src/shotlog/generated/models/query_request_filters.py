from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="QueryRequestFilters")


@_attrs_define
class QueryRequestFilters:
    """Hard filters that must all match. For a list of values, any one matches.

    Attributes:
        video_ids (list[str] | Unset):
        chunk_ids (list[int] | Unset):
        analyzer_ids (list[str] | Unset):
        chunk_config (str | Unset):
        objects (list[str] | Unset):
        tags (list[str] | Unset):
        speakers (list[str] | Unset):
        people (list[str] | Unset):
        min_people (int | Unset):
        max_people (int | Unset):
        after (float | Unset):
        before (float | Unset):
        overlaps_after (float | Unset):
        overlaps_before (float | Unset):
        where (Any | Unset):
        bin_ (str | Unset):
        collections (list[str] | Unset):
        recorded_after (str | Unset):
        recorded_before (str | Unset):
        metadata (Any | Unset):
    """

    video_ids: list[str] | Unset = UNSET
    chunk_ids: list[int] | Unset = UNSET
    analyzer_ids: list[str] | Unset = UNSET
    chunk_config: str | Unset = UNSET
    objects: list[str] | Unset = UNSET
    tags: list[str] | Unset = UNSET
    speakers: list[str] | Unset = UNSET
    people: list[str] | Unset = UNSET
    min_people: int | Unset = UNSET
    max_people: int | Unset = UNSET
    after: float | Unset = UNSET
    before: float | Unset = UNSET
    overlaps_after: float | Unset = UNSET
    overlaps_before: float | Unset = UNSET
    where: Any | Unset = UNSET
    bin_: str | Unset = UNSET
    collections: list[str] | Unset = UNSET
    recorded_after: str | Unset = UNSET
    recorded_before: str | Unset = UNSET
    metadata: Any | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_ids: list[str] | Unset = UNSET
        if not isinstance(self.video_ids, Unset):
            video_ids = self.video_ids

        chunk_ids: list[int] | Unset = UNSET
        if not isinstance(self.chunk_ids, Unset):
            chunk_ids = self.chunk_ids

        analyzer_ids: list[str] | Unset = UNSET
        if not isinstance(self.analyzer_ids, Unset):
            analyzer_ids = self.analyzer_ids

        chunk_config = self.chunk_config

        objects: list[str] | Unset = UNSET
        if not isinstance(self.objects, Unset):
            objects = self.objects

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags

        speakers: list[str] | Unset = UNSET
        if not isinstance(self.speakers, Unset):
            speakers = self.speakers

        people: list[str] | Unset = UNSET
        if not isinstance(self.people, Unset):
            people = self.people

        min_people = self.min_people

        max_people = self.max_people

        after = self.after

        before = self.before

        overlaps_after = self.overlaps_after

        overlaps_before = self.overlaps_before

        where = self.where

        bin_ = self.bin_

        collections: list[str] | Unset = UNSET
        if not isinstance(self.collections, Unset):
            collections = self.collections

        recorded_after = self.recorded_after

        recorded_before = self.recorded_before

        metadata = self.metadata

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if video_ids is not UNSET:
            field_dict["video_ids"] = video_ids
        if chunk_ids is not UNSET:
            field_dict["chunk_ids"] = chunk_ids
        if analyzer_ids is not UNSET:
            field_dict["analyzer_ids"] = analyzer_ids
        if chunk_config is not UNSET:
            field_dict["chunk_config"] = chunk_config
        if objects is not UNSET:
            field_dict["objects"] = objects
        if tags is not UNSET:
            field_dict["tags"] = tags
        if speakers is not UNSET:
            field_dict["speakers"] = speakers
        if people is not UNSET:
            field_dict["people"] = people
        if min_people is not UNSET:
            field_dict["min_people"] = min_people
        if max_people is not UNSET:
            field_dict["max_people"] = max_people
        if after is not UNSET:
            field_dict["after"] = after
        if before is not UNSET:
            field_dict["before"] = before
        if overlaps_after is not UNSET:
            field_dict["overlaps_after"] = overlaps_after
        if overlaps_before is not UNSET:
            field_dict["overlaps_before"] = overlaps_before
        if where is not UNSET:
            field_dict["where"] = where
        if bin_ is not UNSET:
            field_dict["bin"] = bin_
        if collections is not UNSET:
            field_dict["collections"] = collections
        if recorded_after is not UNSET:
            field_dict["recorded_after"] = recorded_after
        if recorded_before is not UNSET:
            field_dict["recorded_before"] = recorded_before
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_ids = cast(list[str], d.pop("video_ids", UNSET))

        chunk_ids = cast(list[int], d.pop("chunk_ids", UNSET))

        analyzer_ids = cast(list[str], d.pop("analyzer_ids", UNSET))

        chunk_config = d.pop("chunk_config", UNSET)

        objects = cast(list[str], d.pop("objects", UNSET))

        tags = cast(list[str], d.pop("tags", UNSET))

        speakers = cast(list[str], d.pop("speakers", UNSET))

        people = cast(list[str], d.pop("people", UNSET))

        min_people = d.pop("min_people", UNSET)

        max_people = d.pop("max_people", UNSET)

        after = d.pop("after", UNSET)

        before = d.pop("before", UNSET)

        overlaps_after = d.pop("overlaps_after", UNSET)

        overlaps_before = d.pop("overlaps_before", UNSET)

        where = d.pop("where", UNSET)

        bin_ = d.pop("bin", UNSET)

        collections = cast(list[str], d.pop("collections", UNSET))

        recorded_after = d.pop("recorded_after", UNSET)

        recorded_before = d.pop("recorded_before", UNSET)

        metadata = d.pop("metadata", UNSET)

        query_request_filters = cls(
            video_ids=video_ids,
            chunk_ids=chunk_ids,
            analyzer_ids=analyzer_ids,
            chunk_config=chunk_config,
            objects=objects,
            tags=tags,
            speakers=speakers,
            people=people,
            min_people=min_people,
            max_people=max_people,
            after=after,
            before=before,
            overlaps_after=overlaps_after,
            overlaps_before=overlaps_before,
            where=where,
            bin_=bin_,
            collections=collections,
            recorded_after=recorded_after,
            recorded_before=recorded_before,
            metadata=metadata,
        )

        query_request_filters.additional_properties = d
        return query_request_filters

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
