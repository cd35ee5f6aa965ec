from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.aggregates_result_failed import AggregatesResultFailed


T = TypeVar("T", bound="AggregatesResult")


@_attrs_define
class AggregatesResult:
    """Result of an aggregate re-run.

    Attributes:
        video_id (str): Id of the video.
        ran (list[str]): Ids of the aggregators that were computed.
        reused (list[str]): Ids of the aggregators whose stored result was reused.
        skipped (list[str]): Ids of the aggregators that were skipped because the video lacks their dependencies.
        failed (AggregatesResultFailed): Error of each aggregator that failed, as `TypeName: message`, by aggregator id.
        aggregates (list[str]): Ids of all aggregators with a stored result.
        recomputed_because_analyzers_changed (bool): Whether stored results were recomputed because analyzer output had
            changed.
        llm_calls_saved (list[str]): Ids of the reused aggregators that would have called the language model.
    """

    video_id: str
    ran: list[str]
    reused: list[str]
    skipped: list[str]
    failed: AggregatesResultFailed
    aggregates: list[str]
    recomputed_because_analyzers_changed: bool
    llm_calls_saved: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        ran = self.ran

        reused = self.reused

        skipped = self.skipped

        failed = self.failed.to_dict()

        aggregates = self.aggregates

        recomputed_because_analyzers_changed = self.recomputed_because_analyzers_changed

        llm_calls_saved = self.llm_calls_saved

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "ran": ran,
                "reused": reused,
                "skipped": skipped,
                "failed": failed,
                "aggregates": aggregates,
                "recomputed_because_analyzers_changed": recomputed_because_analyzers_changed,
                "llm_calls_saved": llm_calls_saved,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.aggregates_result_failed import AggregatesResultFailed  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        ran = cast(list[str], d.pop("ran"))

        reused = cast(list[str], d.pop("reused"))

        skipped = cast(list[str], d.pop("skipped"))

        failed = AggregatesResultFailed.from_dict(d.pop("failed"))

        aggregates = cast(list[str], d.pop("aggregates"))

        recomputed_because_analyzers_changed = d.pop("recomputed_because_analyzers_changed")

        llm_calls_saved = cast(list[str], d.pop("llm_calls_saved"))

        aggregates_result = cls(
            video_id=video_id,
            ran=ran,
            reused=reused,
            skipped=skipped,
            failed=failed,
            aggregates=aggregates,
            recomputed_because_analyzers_changed=recomputed_because_analyzers_changed,
            llm_calls_saved=llm_calls_saved,
        )

        aggregates_result.additional_properties = d
        return aggregates_result

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
