from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.moment_chunk_outputs import MomentChunkOutputs
    from ..models.says import Says


T = TypeVar("T", bound="MomentChunk")


@_attrs_define
class MomentChunk:
    """
    Attributes:
        chunk_id (int): Id of the chunk.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        overlap (float): Duration of the overlap with the moment, in seconds.
        says (list[Says]): Statements about the chunk.
        outputs (MomentChunkOutputs | Unset): Output of each analyzer, by analyzer id; present if `detail` is `full`.
    """

    chunk_id: int
    start: float
    end: float
    timecode: str
    overlap: float
    says: list[Says]
    outputs: MomentChunkOutputs | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        chunk_id = self.chunk_id

        start = self.start

        end = self.end

        timecode = self.timecode

        overlap = self.overlap

        says = []
        for says_item_data in self.says:
            says_item = says_item_data.to_dict()
            says.append(says_item)

        outputs: dict[str, Any] | Unset = UNSET
        if not isinstance(self.outputs, Unset):
            outputs = self.outputs.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "chunk_id": chunk_id,
                "start": start,
                "end": end,
                "timecode": timecode,
                "overlap": overlap,
                "says": says,
            }
        )
        if outputs is not UNSET:
            field_dict["outputs"] = outputs

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.moment_chunk_outputs import MomentChunkOutputs  # noqa: PLC0415
        from ..models.says import Says  # noqa: PLC0415

        d = dict(src_dict)
        chunk_id = d.pop("chunk_id")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        overlap = d.pop("overlap")

        says = []
        _says = d.pop("says")
        for says_item_data in _says:
            says_item = Says.from_dict(says_item_data)

            says.append(says_item)

        _outputs = d.pop("outputs", UNSET)
        outputs: MomentChunkOutputs | Unset
        if isinstance(_outputs, Unset):
            outputs = UNSET
        else:
            outputs = MomentChunkOutputs.from_dict(_outputs)

        moment_chunk = cls(
            chunk_id=chunk_id,
            start=start,
            end=end,
            timecode=timecode,
            overlap=overlap,
            says=says,
            outputs=outputs,
        )

        moment_chunk.additional_properties = d
        return moment_chunk

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
