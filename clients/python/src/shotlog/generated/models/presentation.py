from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.presentation_chart import PresentationChart
    from ..models.presentation_tab import PresentationTab
    from ..models.presentation_track import PresentationTrack


T = TypeVar("T", bound="Presentation")


@_attrs_define
class Presentation:
    """How a page shows the outputs of an analyzer or the result of an aggregator. `text` and `items` are JSON
    pointers (RFC 6901) into the output; the other names of tracks and charts are fields of one item.

        Attributes:
            id (str): Id of the analyzer or aggregator.
            label (str): Its name, in English.
            icon (str): Name of an icon.
            kind (str): What the output contains. Analyzers: `scene`, `speech`, `screen_text`, `objects` or
                `people_in_view`.
                Aggregators: `prose`, `sections`, `occurrences`, `linked_people`, `presence`, `companions`,
                `tracked_objects` or `charts`. Both: `rows`, which is anything else.
            text (None | str): Pointer to the text that describes the output: a string, a list or an object.
            tab (None | PresentationTab): The tab of its panel.
            tracks (list[PresentationTrack]): The timed items.
            charts (list[PresentationChart]): The charts.
    """

    id: str
    label: str
    icon: str
    kind: str
    text: None | str
    tab: None | PresentationTab
    tracks: list[PresentationTrack]
    charts: list[PresentationChart]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.presentation_tab import PresentationTab  # noqa: PLC0415

        id = self.id

        label = self.label

        icon = self.icon

        kind = self.kind

        text: None | str
        text = self.text

        tab: dict[str, Any] | None
        if isinstance(self.tab, PresentationTab):
            tab = self.tab.to_dict()
        else:
            tab = self.tab

        tracks = []
        for tracks_item_data in self.tracks:
            tracks_item = tracks_item_data.to_dict()
            tracks.append(tracks_item)

        charts = []
        for charts_item_data in self.charts:
            charts_item = charts_item_data.to_dict()
            charts.append(charts_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "label": label,
                "icon": icon,
                "kind": kind,
                "text": text,
                "tab": tab,
                "tracks": tracks,
                "charts": charts,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.presentation_chart import PresentationChart  # noqa: PLC0415
        from ..models.presentation_tab import PresentationTab  # noqa: PLC0415
        from ..models.presentation_track import PresentationTrack  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        label = d.pop("label")

        icon = d.pop("icon")

        kind = d.pop("kind")

        def _parse_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        text = _parse_text(d.pop("text"))

        def _parse_tab(data: object) -> None | PresentationTab:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tab_type_0 = PresentationTab.from_dict(data)

                return tab_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PresentationTab, data)

        tab = _parse_tab(d.pop("tab"))

        tracks = []
        _tracks = d.pop("tracks")
        for tracks_item_data in _tracks:
            tracks_item = PresentationTrack.from_dict(tracks_item_data)

            tracks.append(tracks_item)

        charts = []
        _charts = d.pop("charts")
        for charts_item_data in _charts:
            charts_item = PresentationChart.from_dict(charts_item_data)

            charts.append(charts_item)

        presentation = cls(
            id=id,
            label=label,
            icon=icon,
            kind=kind,
            text=text,
            tab=tab,
            tracks=tracks,
            charts=charts,
        )

        presentation.additional_properties = d
        return presentation

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
