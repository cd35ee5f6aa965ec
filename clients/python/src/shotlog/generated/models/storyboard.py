from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Storyboard")


@_attrs_define
class Storyboard:
    """
    Attributes:
        video_id (str): Id of the video.
        sheet (str): Path of the sheet, relative to the service's root.
        interval (float): Duration of the interval that each tile covers, in seconds.
        tiles (int): Number of tiles in the sheet.
        columns (int): Number of tiles per row.
        rows (int): Number of rows.
        tile_width (int): Width of one tile, in pixels.
        tile_height (int): Height of one tile, in pixels.
    """

    video_id: str
    sheet: str
    interval: float
    tiles: int
    columns: int
    rows: int
    tile_width: int
    tile_height: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        sheet = self.sheet

        interval = self.interval

        tiles = self.tiles

        columns = self.columns

        rows = self.rows

        tile_width = self.tile_width

        tile_height = self.tile_height

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "sheet": sheet,
                "interval": interval,
                "tiles": tiles,
                "columns": columns,
                "rows": rows,
                "tile_width": tile_width,
                "tile_height": tile_height,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        video_id = d.pop("video_id")

        sheet = d.pop("sheet")

        interval = d.pop("interval")

        tiles = d.pop("tiles")

        columns = d.pop("columns")

        rows = d.pop("rows")

        tile_width = d.pop("tile_width")

        tile_height = d.pop("tile_height")

        storyboard = cls(
            video_id=video_id,
            sheet=sheet,
            interval=interval,
            tiles=tiles,
            columns=columns,
            rows=rows,
            tile_width=tile_width,
            tile_height=tile_height,
        )

        storyboard.additional_properties = d
        return storyboard

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
