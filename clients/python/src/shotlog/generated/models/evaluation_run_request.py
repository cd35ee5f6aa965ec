from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.search_configuration import SearchConfiguration


T = TypeVar("T", bound="EvaluationRunRequest")


@_attrs_define
class EvaluationRunRequest:
    """
    Attributes:
        configurations (list[SearchConfiguration] | Unset): Search configurations to run; each is compared with the
            first one. Default: a single
            configuration named `default`, with the defaults of `/query`.
        max_model_calls (int | None | Unset): Maximum number of billed language model calls. Null: none are allowed.
    """

    configurations: list[SearchConfiguration] | Unset = UNSET
    max_model_calls: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        configurations: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.configurations, Unset):
            configurations = []
            for configurations_item_data in self.configurations:
                configurations_item = configurations_item_data.to_dict()
                configurations.append(configurations_item)

        max_model_calls: int | None | Unset
        if isinstance(self.max_model_calls, Unset):
            max_model_calls = UNSET
        else:
            max_model_calls = self.max_model_calls

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if configurations is not UNSET:
            field_dict["configurations"] = configurations
        if max_model_calls is not UNSET:
            field_dict["max_model_calls"] = max_model_calls

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.search_configuration import SearchConfiguration  # noqa: PLC0415

        d = dict(src_dict)
        _configurations = d.pop("configurations", UNSET)
        configurations: list[SearchConfiguration] | Unset = UNSET
        if _configurations is not UNSET:
            configurations = []
            for configurations_item_data in _configurations:
                configurations_item = SearchConfiguration.from_dict(configurations_item_data)

                configurations.append(configurations_item)

        def _parse_max_model_calls(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_model_calls = _parse_max_model_calls(d.pop("max_model_calls", UNSET))

        evaluation_run_request = cls(
            configurations=configurations,
            max_model_calls=max_model_calls,
        )

        return evaluation_run_request
