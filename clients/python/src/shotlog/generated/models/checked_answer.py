from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="CheckedAnswer")


@_attrs_define
class CheckedAnswer:
    """Audit of an answer's sentences.

    Attributes:
        answered (bool): Whether the answer answers the question.
        supported (int): Number of supported sentences.
        weak (int): Number of weakly supported sentences.
        unsupported (int): Number of unsupported sentences, which were removed.
        error (str | Unset): `TypeName: message` if generating the answer failed.
    """

    answered: bool
    supported: int
    weak: int
    unsupported: int
    error: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        answered = self.answered

        supported = self.supported

        weak = self.weak

        unsupported = self.unsupported

        error = self.error

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "answered": answered,
                "supported": supported,
                "weak": weak,
                "unsupported": unsupported,
            }
        )
        if error is not UNSET:
            field_dict["error"] = error

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        answered = d.pop("answered")

        supported = d.pop("supported")

        weak = d.pop("weak")

        unsupported = d.pop("unsupported")

        error = d.pop("error", UNSET)

        checked_answer = cls(
            answered=answered,
            supported=supported,
            weak=weak,
            unsupported=unsupported,
            error=error,
        )

        checked_answer.additional_properties = d
        return checked_answer

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
