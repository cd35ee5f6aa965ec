from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.presentation_lane import PresentationLane


T = TypeVar("T", bound="PresentationTrack")


@_attrs_define
class PresentationTrack:
    """A list of timed items in an output. Items may have `locations`, boxes in the picture.

    Attributes:
        items (str): Pointer to the list, or to an object that is the only item.
        start (str): Field with the start, in seconds. Items without it start with their chunk.
        end (str): Field with the end, in seconds. Items without it end with their chunk.
        label (str): Field with the label.
        text (None | str): Field with further text.
        speaker (None | str): Field with the speaker.
        category (None | str): Field with the category.
        value (None | str): Field with a number, 0 or more: the height in a lane of levels.
        lane (None | PresentationLane): The lane on the timeline.
    """

    items: str
    start: str
    end: str
    label: str
    text: None | str
    speaker: None | str
    category: None | str
    value: None | str
    lane: None | PresentationLane
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.presentation_lane import PresentationLane  # noqa: PLC0415

        items = self.items

        start = self.start

        end = self.end

        label = self.label

        text: None | str
        text = self.text

        speaker: None | str
        speaker = self.speaker

        category: None | str
        category = self.category

        value: None | str
        value = self.value

        lane: dict[str, Any] | None
        if isinstance(self.lane, PresentationLane):
            lane = self.lane.to_dict()
        else:
            lane = self.lane

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
                "start": start,
                "end": end,
                "label": label,
                "text": text,
                "speaker": speaker,
                "category": category,
                "value": value,
                "lane": lane,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presentation_lane import PresentationLane  # noqa: PLC0415

        d = dict(src_dict)
        items = d.pop("items")

        start = d.pop("start")

        end = d.pop("end")

        label = d.pop("label")

        def _parse_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        text = _parse_text(d.pop("text"))

        def _parse_speaker(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        speaker = _parse_speaker(d.pop("speaker"))

        def _parse_category(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        category = _parse_category(d.pop("category"))

        def _parse_value(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        value = _parse_value(d.pop("value"))

        def _parse_lane(data: object) -> None | PresentationLane:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                lane_type_0 = PresentationLane.from_dict(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PresentationLane, data)

        lane = _parse_lane(d.pop("lane"))

        presentation_track = cls(
            items=items,
            start=start,
            end=end,
            label=label,
            text=text,
            speaker=speaker,
            category=category,
            value=value,
            lane=lane,
        )

        presentation_track.additional_properties = d
        return presentation_track

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
