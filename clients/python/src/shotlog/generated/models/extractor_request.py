from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="ExtractorRequest")


@_attrs_define
class ExtractorRequest:
    """
    Attributes:
        schema (Any): JSON schema of type object. Supported: objects with `properties`, arrays with `items`
            (`maxItems`), strings (`enum`, `format`: `email`, `uri`, `date`, `time`), numbers and
            integers (`minimum`, `maximum`), booleans, and spans of the video (an object with format
            `span`). Any of them may have a `description`, which becomes part of the prompt. A field is
            null if the chunk does not show its value.
        description (str | Unset): What the extractor extracts, in one sentence. Default: ''.
    """

    schema: Any
    description: str | Unset = ""

    def to_dict(self) -> dict[str, Any]:
        schema = self.schema

        description = self.description

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "schema": schema,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        schema = d.pop("schema")

        description = d.pop("description", UNSET)

        extractor_request = cls(
            schema=schema,
            description=description,
        )

        return extractor_request
