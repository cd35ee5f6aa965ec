from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.default_video_output import DefaultVideoOutput
    from ..models.diarization_output import DiarizationOutput
    from ..models.object_detection_output import ObjectDetectionOutput
    from ..models.ocr_output import OcrOutput
    from ..models.people_output import PeopleOutput
    from ..models.transcript_output import TranscriptOutput


T = TypeVar("T", bound="Chunk")


@_attrs_define
class Chunk:
    """A chunk, with one field for each analyzer that has output for it.

    Attributes:
        chunk_id (int): Id of the chunk, counted from 0.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        default_video (DefaultVideoOutput | Unset):
        diarization (DiarizationOutput | Unset):
        object_detection (ObjectDetectionOutput | Unset):
        ocr (OcrOutput | Unset):
        people (PeopleOutput | Unset):
        transcript (TranscriptOutput | Unset):
    """

    chunk_id: int
    start: float
    end: float
    timecode: str
    default_video: DefaultVideoOutput | Unset = UNSET
    diarization: DiarizationOutput | Unset = UNSET
    object_detection: ObjectDetectionOutput | Unset = UNSET
    ocr: OcrOutput | Unset = UNSET
    people: PeopleOutput | Unset = UNSET
    transcript: TranscriptOutput | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        chunk_id = self.chunk_id

        start = self.start

        end = self.end

        timecode = self.timecode

        default_video: dict[str, Any] | Unset = UNSET
        if not isinstance(self.default_video, Unset):
            default_video = self.default_video.to_dict()

        diarization: dict[str, Any] | Unset = UNSET
        if not isinstance(self.diarization, Unset):
            diarization = self.diarization.to_dict()

        object_detection: dict[str, Any] | Unset = UNSET
        if not isinstance(self.object_detection, Unset):
            object_detection = self.object_detection.to_dict()

        ocr: dict[str, Any] | Unset = UNSET
        if not isinstance(self.ocr, Unset):
            ocr = self.ocr.to_dict()

        people: dict[str, Any] | Unset = UNSET
        if not isinstance(self.people, Unset):
            people = self.people.to_dict()

        transcript: dict[str, Any] | Unset = UNSET
        if not isinstance(self.transcript, Unset):
            transcript = self.transcript.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "chunk_id": chunk_id,
                "start": start,
                "end": end,
                "timecode": timecode,
            }
        )
        if default_video is not UNSET:
            field_dict["default_video"] = default_video
        if diarization is not UNSET:
            field_dict["diarization"] = diarization
        if object_detection is not UNSET:
            field_dict["object_detection"] = object_detection
        if ocr is not UNSET:
            field_dict["ocr"] = ocr
        if people is not UNSET:
            field_dict["people"] = people
        if transcript is not UNSET:
            field_dict["transcript"] = transcript

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.default_video_output import DefaultVideoOutput  # noqa: PLC0415
        from ..models.diarization_output import DiarizationOutput  # noqa: PLC0415
        from ..models.object_detection_output import ObjectDetectionOutput  # noqa: PLC0415
        from ..models.ocr_output import OcrOutput  # noqa: PLC0415
        from ..models.people_output import PeopleOutput  # noqa: PLC0415
        from ..models.transcript_output import TranscriptOutput  # noqa: PLC0415

        d = dict(src_dict)
        chunk_id = d.pop("chunk_id")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        _default_video = d.pop("default_video", UNSET)
        default_video: DefaultVideoOutput | Unset
        if isinstance(_default_video, Unset):
            default_video = UNSET
        else:
            default_video = DefaultVideoOutput.from_dict(_default_video)

        _diarization = d.pop("diarization", UNSET)
        diarization: DiarizationOutput | Unset
        if isinstance(_diarization, Unset):
            diarization = UNSET
        else:
            diarization = DiarizationOutput.from_dict(_diarization)

        _object_detection = d.pop("object_detection", UNSET)
        object_detection: ObjectDetectionOutput | Unset
        if isinstance(_object_detection, Unset):
            object_detection = UNSET
        else:
            object_detection = ObjectDetectionOutput.from_dict(_object_detection)

        _ocr = d.pop("ocr", UNSET)
        ocr: OcrOutput | Unset
        if isinstance(_ocr, Unset):
            ocr = UNSET
        else:
            ocr = OcrOutput.from_dict(_ocr)

        _people = d.pop("people", UNSET)
        people: PeopleOutput | Unset
        if isinstance(_people, Unset):
            people = UNSET
        else:
            people = PeopleOutput.from_dict(_people)

        _transcript = d.pop("transcript", UNSET)
        transcript: TranscriptOutput | Unset
        if isinstance(_transcript, Unset):
            transcript = UNSET
        else:
            transcript = TranscriptOutput.from_dict(_transcript)

        chunk = cls(
            chunk_id=chunk_id,
            start=start,
            end=end,
            timecode=timecode,
            default_video=default_video,
            diarization=diarization,
            object_detection=object_detection,
            ocr=ocr,
            people=people,
            transcript=transcript,
        )

        chunk.additional_properties = d
        return chunk

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
