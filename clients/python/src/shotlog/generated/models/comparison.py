from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.evaluation_metric import EvaluationMetric, check_evaluation_metric

T = TypeVar("T", bound="Comparison")


@_attrs_define
class Comparison:
    """Difference between two configurations in one metric.

    Attributes:
        metric (EvaluationMetric):
        baseline (str): Name of the first configuration, whose value is subtracted.
        configuration (str): Name of the other configuration.
        difference (float): Mean difference over the questions for which both configurations have the metric.
        low (float): Lower bound of the 95% confidence interval, computed by paired bootstrap.
        high (float): Upper bound of the interval. The difference is significant if the interval excludes 0.
        questions (int): Number of questions for which both configurations have the metric.
    """

    metric: EvaluationMetric
    baseline: str
    configuration: str
    difference: float
    low: float
    high: float
    questions: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        metric: str = self.metric

        baseline = self.baseline

        configuration = self.configuration

        difference = self.difference

        low = self.low

        high = self.high

        questions = self.questions

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "metric": metric,
                "baseline": baseline,
                "configuration": configuration,
                "difference": difference,
                "low": low,
                "high": high,
                "questions": questions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        metric = check_evaluation_metric(d.pop("metric"))

        baseline = d.pop("baseline")

        configuration = d.pop("configuration")

        difference = d.pop("difference")

        low = d.pop("low")

        high = d.pop("high")

        questions = d.pop("questions")

        comparison = cls(
            metric=metric,
            baseline=baseline,
            configuration=configuration,
            difference=difference,
            low=low,
            high=high,
            questions=questions,
        )

        comparison.additional_properties = d
        return comparison

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
