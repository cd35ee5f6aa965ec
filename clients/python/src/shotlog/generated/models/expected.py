from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Expected")


@_attrs_define
class Expected:
    """
    Attributes:
        reused (int): Number of chunks whose stored output would be reused; for an aggregator, 1 if its stored
            result would be reused.
        model_calls (int | None): Number of billed language model calls; null if unknown.
        input_tokens (int | None): Number of input tokens; null if unknown.
        output_tokens (int | None): Number of output tokens; null if unknown.
        seconds (float | None): Duration in seconds; null if unknown.
    """

    reused: int
    model_calls: int | None
    input_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reused = self.reused

        model_calls: int | None
        model_calls = self.model_calls

        input_tokens: int | None
        input_tokens = self.input_tokens

        output_tokens: int | None
        output_tokens = self.output_tokens

        seconds: float | None
        seconds = self.seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reused": reused,
                "model_calls": model_calls,
                "input_tokens": input_tokens,
                "output_tokens": output_tokens,
                "seconds": seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reused = d.pop("reused")

        def _parse_model_calls(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        model_calls = _parse_model_calls(d.pop("model_calls"))

        def _parse_input_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        input_tokens = _parse_input_tokens(d.pop("input_tokens"))

        def _parse_output_tokens(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        output_tokens = _parse_output_tokens(d.pop("output_tokens"))

        def _parse_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seconds = _parse_seconds(d.pop("seconds"))

        expected = cls(
            reused=reused,
            model_calls=model_calls,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            seconds=seconds,
        )

        expected.additional_properties = d
        return expected

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
