from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.evaluation_latency import EvaluationLatency
    from ..models.evaluation_metrics import EvaluationMetrics
    from ..models.model_cost import ModelCost
    from ..models.search_configuration import SearchConfiguration


T = TypeVar("T", bound="ConfigurationResult")


@_attrs_define
class ConfigurationResult:
    """
    Attributes:
        configuration (SearchConfiguration): A search configuration. Fields with the same name as in `/query` have the
            same meaning.
        metrics (EvaluationMetrics): Mean of each metric over the questions that have it, rounded to four decimals; null
            if no
            question has it. A hit matches a judged moment if the two overlap in time.
        latency (EvaluationLatency): Latency within the service, in milliseconds; null if not measured. Percentiles are
            computed by
            the nearest-rank method.
        cost (ModelCost): Billed language model usage.
    """

    configuration: SearchConfiguration
    metrics: EvaluationMetrics
    latency: EvaluationLatency
    cost: ModelCost
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        configuration = self.configuration.to_dict()

        metrics = self.metrics.to_dict()

        latency = self.latency.to_dict()

        cost = self.cost.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "configuration": configuration,
                "metrics": metrics,
                "latency": latency,
                "cost": cost,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.evaluation_latency import EvaluationLatency  # noqa: PLC0415
        from ..models.evaluation_metrics import EvaluationMetrics  # noqa: PLC0415
        from ..models.model_cost import ModelCost  # noqa: PLC0415
        from ..models.search_configuration import SearchConfiguration  # noqa: PLC0415

        d = dict(src_dict)
        configuration = SearchConfiguration.from_dict(d.pop("configuration"))

        metrics = EvaluationMetrics.from_dict(d.pop("metrics"))

        latency = EvaluationLatency.from_dict(d.pop("latency"))

        cost = ModelCost.from_dict(d.pop("cost"))

        configuration_result = cls(
            configuration=configuration,
            metrics=metrics,
            latency=latency,
            cost=cost,
        )

        configuration_result.additional_properties = d
        return configuration_result

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
