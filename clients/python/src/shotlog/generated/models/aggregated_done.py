from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.aggregated_done_failed import AggregatedDoneFailed


T = TypeVar("T", bound="AggregatedDone")


@_attrs_define
class AggregatedDone:
    """
    Attributes:
        ran (list[str]): Ids of the aggregators that were computed.
        reused (list[str]): Ids of the aggregators whose stored result was reused.
        aggregates (list[str]): Ids of all aggregators with a stored result.
        skipped (list[str] | Unset): Ids of the aggregators that were skipped because the video lacks their
            dependencies; absent
            if there are none.
        failed (AggregatedDoneFailed | Unset): Error of each aggregator that failed, as `TypeName: message`, by
            aggregator id; absent if
            none failed.
    """

    ran: list[str]
    reused: list[str]
    aggregates: list[str]
    skipped: list[str] | Unset = UNSET
    failed: AggregatedDoneFailed | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        ran = self.ran

        reused = self.reused

        aggregates = self.aggregates

        skipped: list[str] | Unset = UNSET
        if not isinstance(self.skipped, Unset):
            skipped = self.skipped

        failed: dict[str, Any] | Unset = UNSET
        if not isinstance(self.failed, Unset):
            failed = self.failed.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "ran": ran,
                "reused": reused,
                "aggregates": aggregates,
            }
        )
        if skipped is not UNSET:
            field_dict["skipped"] = skipped
        if failed is not UNSET:
            field_dict["failed"] = failed

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.aggregated_done_failed import AggregatedDoneFailed  # noqa: PLC0415

        d = dict(src_dict)
        ran = cast(list[str], d.pop("ran"))

        reused = cast(list[str], d.pop("reused"))

        aggregates = cast(list[str], d.pop("aggregates"))

        skipped = cast(list[str], d.pop("skipped", UNSET))

        _failed = d.pop("failed", UNSET)
        failed: AggregatedDoneFailed | Unset
        if isinstance(_failed, Unset):
            failed = UNSET
        else:
            failed = AggregatedDoneFailed.from_dict(_failed)

        aggregated_done = cls(
            ran=ran,
            reused=reused,
            aggregates=aggregates,
            skipped=skipped,
            failed=failed,
        )

        aggregated_done.additional_properties = d
        return aggregated_done

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
