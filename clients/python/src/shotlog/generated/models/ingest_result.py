from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.aggregated_done import AggregatedDone
    from ..models.aggregated_failed import AggregatedFailed
    from ..models.ingest_result_indexed import IngestResultIndexed
    from ..models.ingest_result_profile import IngestResultProfile
    from ..models.model_usage import ModelUsage


T = TypeVar("T", bound="IngestResult")


@_attrs_define
class IngestResult:
    """Result of an ingest. Only this kind of result has a `video_url`.

    Attributes:
        video_id (str): Id of the video.
        video_url (str): URL of the video in storage.
        poster_url (None | str): URL of the poster image; null if there is none.
        storage_path (str): Path of the video in the storage bucket.
        filename (str): File name of the video.
        duration (float): Duration of the video, in seconds.
        size_bytes (int): Size of the file, in bytes.
        chunk_config (str): Id of the chunking configuration.
        chunks (int): Number of chunks.
        analyzers (list[str]): Ids of the analyzers that have output for the video.
        indexed (IngestResultIndexed): Number of vectors written, by analyzer.
        aggregated (AggregatedDone | AggregatedFailed):
        dropped (list[str] | Unset): Ids of analyzers whose output was deleted because the video was chunked differently
            and
            these analyzers were not part of this ingest.
        warnings (list[str] | Unset): Messages about what was skipped or selected in the file; absent if there is
            nothing to
            report.
        usage (ModelUsage | Unset): Language model usage.
        profile (IngestResultProfile | Unset): Cost of each step, by step name; absent if nothing was measured.
    """

    video_id: str
    video_url: str
    poster_url: None | str
    storage_path: str
    filename: str
    duration: float
    size_bytes: int
    chunk_config: str
    chunks: int
    analyzers: list[str]
    indexed: IngestResultIndexed
    aggregated: AggregatedDone | AggregatedFailed
    dropped: list[str] | Unset = UNSET
    warnings: list[str] | Unset = UNSET
    usage: ModelUsage | Unset = UNSET
    profile: IngestResultProfile | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.aggregated_done import AggregatedDone  # noqa: PLC0415

        video_id = self.video_id

        video_url = self.video_url

        poster_url: None | str
        poster_url = self.poster_url

        storage_path = self.storage_path

        filename = self.filename

        duration = self.duration

        size_bytes = self.size_bytes

        chunk_config = self.chunk_config

        chunks = self.chunks

        analyzers = self.analyzers

        indexed = self.indexed.to_dict()

        aggregated: dict[str, Any]
        if isinstance(self.aggregated, AggregatedDone):
            aggregated = self.aggregated.to_dict()
        else:
            aggregated = self.aggregated.to_dict()

        dropped: list[str] | Unset = UNSET
        if not isinstance(self.dropped, Unset):
            dropped = self.dropped

        warnings: list[str] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = self.warnings

        usage: dict[str, Any] | Unset = UNSET
        if not isinstance(self.usage, Unset):
            usage = self.usage.to_dict()

        profile: dict[str, Any] | Unset = UNSET
        if not isinstance(self.profile, Unset):
            profile = self.profile.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "video_url": video_url,
                "poster_url": poster_url,
                "storage_path": storage_path,
                "filename": filename,
                "duration": duration,
                "size_bytes": size_bytes,
                "chunk_config": chunk_config,
                "chunks": chunks,
                "analyzers": analyzers,
                "indexed": indexed,
                "aggregated": aggregated,
            }
        )
        if dropped is not UNSET:
            field_dict["dropped"] = dropped
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if usage is not UNSET:
            field_dict["usage"] = usage
        if profile is not UNSET:
            field_dict["profile"] = profile

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.aggregated_done import AggregatedDone  # noqa: PLC0415
        from ..models.aggregated_failed import AggregatedFailed  # noqa: PLC0415
        from ..models.ingest_result_indexed import IngestResultIndexed  # noqa: PLC0415
        from ..models.ingest_result_profile import IngestResultProfile  # noqa: PLC0415
        from ..models.model_usage import ModelUsage  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        video_url = d.pop("video_url")

        def _parse_poster_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        poster_url = _parse_poster_url(d.pop("poster_url"))

        storage_path = d.pop("storage_path")

        filename = d.pop("filename")

        duration = d.pop("duration")

        size_bytes = d.pop("size_bytes")

        chunk_config = d.pop("chunk_config")

        chunks = d.pop("chunks")

        analyzers = cast(list[str], d.pop("analyzers"))

        indexed = IngestResultIndexed.from_dict(d.pop("indexed"))

        def _parse_aggregated(data: object) -> AggregatedDone | AggregatedFailed:
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                componentsschemas_aggregated_type_0 = AggregatedDone.from_dict(data)

                return componentsschemas_aggregated_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, dict):
                raise TypeError()
            componentsschemas_aggregated_type_1 = AggregatedFailed.from_dict(data)

            return componentsschemas_aggregated_type_1

        aggregated = _parse_aggregated(d.pop("aggregated"))

        dropped = cast(list[str], d.pop("dropped", UNSET))

        warnings = cast(list[str], d.pop("warnings", UNSET))

        _usage = d.pop("usage", UNSET)
        usage: ModelUsage | Unset
        if isinstance(_usage, Unset):
            usage = UNSET
        else:
            usage = ModelUsage.from_dict(_usage)

        _profile = d.pop("profile", UNSET)
        profile: IngestResultProfile | Unset
        if isinstance(_profile, Unset):
            profile = UNSET
        else:
            profile = IngestResultProfile.from_dict(_profile)

        ingest_result = cls(
            video_id=video_id,
            video_url=video_url,
            poster_url=poster_url,
            storage_path=storage_path,
            filename=filename,
            duration=duration,
            size_bytes=size_bytes,
            chunk_config=chunk_config,
            chunks=chunks,
            analyzers=analyzers,
            indexed=indexed,
            aggregated=aggregated,
            dropped=dropped,
            warnings=warnings,
            usage=usage,
            profile=profile,
        )

        ingest_result.additional_properties = d
        return ingest_result

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
