from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="EvaluationLatency")


@_attrs_define
class EvaluationLatency:
    """Latency within the service, in milliseconds; null if not measured. Percentiles are computed by
    the nearest-rank method.

        Attributes:
            search_p50 (float | None | Unset): Median search latency.
            search_p95 (float | None | Unset): 95th percentile of the search latency.
            ask_p50 (float | None | Unset): Median latency of `/ask`.
            ask_p95 (float | None | Unset): 95th percentile of the `/ask` latency.
    """

    search_p50: float | None | Unset = UNSET
    search_p95: float | None | Unset = UNSET
    ask_p50: float | None | Unset = UNSET
    ask_p95: float | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        search_p50: float | None | Unset
        if isinstance(self.search_p50, Unset):
            search_p50 = UNSET
        else:
            search_p50 = self.search_p50

        search_p95: float | None | Unset
        if isinstance(self.search_p95, Unset):
            search_p95 = UNSET
        else:
            search_p95 = self.search_p95

        ask_p50: float | None | Unset
        if isinstance(self.ask_p50, Unset):
            ask_p50 = UNSET
        else:
            ask_p50 = self.ask_p50

        ask_p95: float | None | Unset
        if isinstance(self.ask_p95, Unset):
            ask_p95 = UNSET
        else:
            ask_p95 = self.ask_p95

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if search_p50 is not UNSET:
            field_dict["search_p50"] = search_p50
        if search_p95 is not UNSET:
            field_dict["search_p95"] = search_p95
        if ask_p50 is not UNSET:
            field_dict["ask_p50"] = ask_p50
        if ask_p95 is not UNSET:
            field_dict["ask_p95"] = ask_p95

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_search_p50(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        search_p50 = _parse_search_p50(d.pop("search_p50", UNSET))

        def _parse_search_p95(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        search_p95 = _parse_search_p95(d.pop("search_p95", UNSET))

        def _parse_ask_p50(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        ask_p50 = _parse_ask_p50(d.pop("ask_p50", UNSET))

        def _parse_ask_p95(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        ask_p95 = _parse_ask_p95(d.pop("ask_p95", UNSET))

        evaluation_latency = cls(
            search_p50=search_p50,
            search_p95=search_p95,
            ask_p50=ask_p50,
            ask_p95=ask_p95,
        )

        evaluation_latency.additional_properties = d
        return evaluation_latency

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
