from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.expected import Expected
    from ..models.plan_aggregators import PlanAggregators
    from ..models.plan_analyzers import PlanAnalyzers


T = TypeVar("T", bound="Plan")


@_attrs_define
class Plan:
    """
    Attributes:
        video_id (None | str): Id of the video, if it is stored; null otherwise.
        chunk_config (str): Id of the chunking configuration.
        chunks (int | None): Number of chunks; null if unknown.
        drops (list[str]): Ids of analyzers whose output would be deleted because the video would be chunked
            differently and these analyzers are not part of this ingest.
        analyzers (PlanAnalyzers): Estimate for each analyzer, by analyzer id.
        aggregators (PlanAggregators): Estimate for each aggregator whose dependencies are met, by aggregator id. In
            these
            estimates, `seconds` is 0; only `total` includes the time for aggregators.
        total (Expected):
        history (int): Number of videos that the estimates are based on.
    """

    video_id: None | str
    chunk_config: str
    chunks: int | None
    drops: list[str]
    analyzers: PlanAnalyzers
    aggregators: PlanAggregators
    total: Expected
    history: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id: None | str
        video_id = self.video_id

        chunk_config = self.chunk_config

        chunks: int | None
        chunks = self.chunks

        drops = self.drops

        analyzers = self.analyzers.to_dict()

        aggregators = self.aggregators.to_dict()

        total = self.total.to_dict()

        history = self.history

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "chunk_config": chunk_config,
                "chunks": chunks,
                "drops": drops,
                "analyzers": analyzers,
                "aggregators": aggregators,
                "total": total,
                "history": history,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.expected import Expected  # noqa: PLC0415
        from ..models.plan_aggregators import PlanAggregators  # noqa: PLC0415
        from ..models.plan_analyzers import PlanAnalyzers  # noqa: PLC0415

        d = dict(src_dict)

        def _parse_video_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        video_id = _parse_video_id(d.pop("video_id"))

        chunk_config = d.pop("chunk_config")

        def _parse_chunks(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        chunks = _parse_chunks(d.pop("chunks"))

        drops = cast(list[str], d.pop("drops"))

        analyzers = PlanAnalyzers.from_dict(d.pop("analyzers"))

        aggregators = PlanAggregators.from_dict(d.pop("aggregators"))

        total = Expected.from_dict(d.pop("total"))

        history = d.pop("history")

        plan = cls(
            video_id=video_id,
            chunk_config=chunk_config,
            chunks=chunks,
            drops=drops,
            analyzers=analyzers,
            aggregators=aggregators,
            total=total,
            history=history,
        )

        plan.additional_properties = d
        return plan

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
