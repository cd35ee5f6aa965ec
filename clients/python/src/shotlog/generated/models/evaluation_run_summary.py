from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.configuration_result import ConfigurationResult


T = TypeVar("T", bound="EvaluationRunSummary")


@_attrs_define
class EvaluationRunSummary:
    """
    Attributes:
        run_id (str): Id of the run.
        created_at (str): When the run started (ISO 8601, UTC, to the second).
        seconds (float): Duration of the run, in seconds.
        revision (str): Revision of the questions; only runs with the same revision are comparable.
        embedder (str): Name of the embedder.
        language_model (str): Name of the language model.
        configurations (list[ConfigurationResult]): Results for each configuration, in the order of the request.
    """

    run_id: str
    created_at: str
    seconds: float
    revision: str
    embedder: str
    language_model: str
    configurations: list[ConfigurationResult]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        run_id = self.run_id

        created_at = self.created_at

        seconds = self.seconds

        revision = self.revision

        embedder = self.embedder

        language_model = self.language_model

        configurations = []
        for configurations_item_data in self.configurations:
            configurations_item = configurations_item_data.to_dict()
            configurations.append(configurations_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "run_id": run_id,
                "created_at": created_at,
                "seconds": seconds,
                "revision": revision,
                "embedder": embedder,
                "language_model": language_model,
                "configurations": configurations,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.configuration_result import ConfigurationResult  # noqa: PLC0415

        d = dict(src_dict)
        run_id = d.pop("run_id")

        created_at = d.pop("created_at")

        seconds = d.pop("seconds")

        revision = d.pop("revision")

        embedder = d.pop("embedder")

        language_model = d.pop("language_model")

        configurations = []
        _configurations = d.pop("configurations")
        for configurations_item_data in _configurations:
            configurations_item = ConfigurationResult.from_dict(configurations_item_data)

            configurations.append(configurations_item)

        evaluation_run_summary = cls(
            run_id=run_id,
            created_at=created_at,
            seconds=seconds,
            revision=revision,
            embedder=embedder,
            language_model=language_model,
            configurations=configurations,
        )

        evaluation_run_summary.additional_properties = d
        return evaluation_run_summary

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
