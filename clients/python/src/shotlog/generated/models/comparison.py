from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.evaluation_metric import EvaluationMetric, check_evaluation_metric

T = TypeVar("T", bound="Comparison")


@_attrs_define
class Comparison:
    """The difference of two configurations by one metric.

    Attributes:
        metric (EvaluationMetric):
        baseline (str): The configuration that is subtracted, which is the first.
        configuration (str): The configuration that it is subtracted from.
        difference (float): Mean over the questions that both have the metric for.
        low (float): Lower end of its 95 % interval, by paired bootstrap.
        high (float): Upper end of that interval: where it does not hold 0, the difference is no chance.
        questions (int): How many those questions are.
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
