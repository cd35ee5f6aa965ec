from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PresentationChart")


@_attrs_define
class PresentationChart:
    """A chart of numbers in a result.

    Attributes:
        title (str): Heading, in English.
        form (str): How it is drawn: `speaking_time`, `line`, `steps`, `bars` or `tags`.
        items (str): Pointer to the list of items. An item is an object, or a list whose fields are `0`, `1` and so on.
        label (None | str): Field with the name of a bar or a tag.
        value (str): Field with the number.
        minus (None | str): Field with a number to subtract.
        category (None | str): Field with the category of a tag.
        low (float): Lowest number of the axis.
        high (float): The least of the highest number of the axis.
    """

    title: str
    form: str
    items: str
    label: None | str
    value: str
    minus: None | str
    category: None | str
    low: float
    high: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        title = self.title

        form = self.form

        items = self.items

        label: None | str
        label = self.label

        value = self.value

        minus: None | str
        minus = self.minus

        category: None | str
        category = self.category

        low = self.low

        high = self.high

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "title": title,
                "form": form,
                "items": items,
                "label": label,
                "value": value,
                "minus": minus,
                "category": category,
                "low": low,
                "high": high,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        title = d.pop("title")

        form = d.pop("form")

        items = d.pop("items")

        def _parse_label(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        label = _parse_label(d.pop("label"))

        value = d.pop("value")

        def _parse_minus(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        minus = _parse_minus(d.pop("minus"))

        def _parse_category(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        category = _parse_category(d.pop("category"))

        low = d.pop("low")

        high = d.pop("high")

        presentation_chart = cls(
            title=title,
            form=form,
            items=items,
            label=label,
            value=value,
            minus=minus,
            category=category,
            low=low,
            high=high,
        )

        presentation_chart.additional_properties = d
        return presentation_chart

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
