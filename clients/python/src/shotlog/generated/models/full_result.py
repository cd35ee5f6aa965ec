from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.full_result_certainty import FullResultCertainty
    from ..models.turn import Turn


T = TypeVar("T", bound="FullResult")


@_attrs_define
class FullResult:
    """A search hit at `detail=full`.

    Attributes:
        moment_id (str): Stable id of the moment, for `GET /moments/{moment_id}`.
        video_id (str): Id of the video.
        chunk_id (int): Id of the chunk.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        score (float | None): Cosine similarity, from 0 to 1; null in a listing, which has no scores.
        video_url (str): URL of the video in storage.
        description (str): What happens in the chunk.
        people (list[str]): Descriptions of the people in the chunk.
        objects (list[str]): Objects in the chunk.
        actions (list[str]): Actions in the chunk.
        tags (list[str]): Keywords for the chunk.
        speakers (list[str]): Labels or names of the speakers in the chunk.
        people_count (int | None): Number of people in the chunk; null if unknown.
        turns (list[Turn]): Speaker turns in the chunk.
        text (str): The text that was embedded.
        persons (list[Any]): People with their details, as stored by the analyzer.
        detections (list[Any]): Detected objects with their details, as stored by the analyzer.
        texts (list[Any]): On-screen texts with their details, as stored by the analyzer.
        text_score (float | Unset): BM25 score; present in the modes `text` and `hybrid` if words of the query match.
        p_present (float | Unset): Calibrated probability (0 to 1) that the chunk really contains what was searched for;
            absent
            if the request has no search text.
        found_by (list[str] | Unset): Ids of the analyzers whose output matched, most probable match first; present if
            the output
            of all analyzers was searched.
        recorded_at (str | Unset): Wall-clock time at the start (ISO 8601, UTC); present if the video has `recorded_at`.
        certainty (FullResultCertainty | Unset): How certain (0 to 1) objects and tags are that were recognised in the
            picture, by label.
            Other labels are stated without a probability. Absent if there are none.
        records (Any | Unset): Further lists of records, by name, as stored by analyzers that are not built in.
    """

    moment_id: str
    video_id: str
    chunk_id: int
    start: float
    end: float
    timecode: str
    score: float | None
    video_url: str
    description: str
    people: list[str]
    objects: list[str]
    actions: list[str]
    tags: list[str]
    speakers: list[str]
    people_count: int | None
    turns: list[Turn]
    text: str
    persons: list[Any]
    detections: list[Any]
    texts: list[Any]
    text_score: float | Unset = UNSET
    p_present: float | Unset = UNSET
    found_by: list[str] | Unset = UNSET
    recorded_at: str | Unset = UNSET
    certainty: FullResultCertainty | Unset = UNSET
    records: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        video_id = self.video_id

        chunk_id = self.chunk_id

        start = self.start

        end = self.end

        timecode = self.timecode

        score: float | None
        score = self.score

        video_url = self.video_url

        description = self.description

        people = self.people

        objects = self.objects

        actions = self.actions

        tags = self.tags

        speakers = self.speakers

        people_count: int | None
        people_count = self.people_count

        turns = []
        for turns_item_data in self.turns:
            turns_item = turns_item_data.to_dict()
            turns.append(turns_item)

        text = self.text

        persons = self.persons

        detections = self.detections

        texts = self.texts

        text_score = self.text_score

        p_present = self.p_present

        found_by: list[str] | Unset = UNSET
        if not isinstance(self.found_by, Unset):
            found_by = self.found_by

        recorded_at = self.recorded_at

        certainty: dict[str, Any] | Unset = UNSET
        if not isinstance(self.certainty, Unset):
            certainty = self.certainty.to_dict()

        records = self.records

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "moment_id": moment_id,
                "video_id": video_id,
                "chunk_id": chunk_id,
                "start": start,
                "end": end,
                "timecode": timecode,
                "score": score,
                "video_url": video_url,
                "description": description,
                "people": people,
                "objects": objects,
                "actions": actions,
                "tags": tags,
                "speakers": speakers,
                "people_count": people_count,
                "turns": turns,
                "text": text,
                "persons": persons,
                "detections": detections,
                "texts": texts,
            }
        )
        if text_score is not UNSET:
            field_dict["text_score"] = text_score
        if p_present is not UNSET:
            field_dict["p_present"] = p_present
        if found_by is not UNSET:
            field_dict["found_by"] = found_by
        if recorded_at is not UNSET:
            field_dict["recorded_at"] = recorded_at
        if certainty is not UNSET:
            field_dict["certainty"] = certainty
        if records is not UNSET:
            field_dict["records"] = records

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.full_result_certainty import FullResultCertainty  # noqa: PLC0415
        from ..models.turn import Turn  # noqa: PLC0415

        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        video_id = d.pop("video_id")

        chunk_id = d.pop("chunk_id")

        start = d.pop("start")

        end = d.pop("end")

        timecode = d.pop("timecode")

        def _parse_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score = _parse_score(d.pop("score"))

        video_url = d.pop("video_url")

        description = d.pop("description")

        people = cast(list[str], d.pop("people"))

        objects = cast(list[str], d.pop("objects"))

        actions = cast(list[str], d.pop("actions"))

        tags = cast(list[str], d.pop("tags"))

        speakers = cast(list[str], d.pop("speakers"))

        def _parse_people_count(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        people_count = _parse_people_count(d.pop("people_count"))

        turns = []
        _turns = d.pop("turns")
        for turns_item_data in _turns:
            turns_item = Turn.from_dict(turns_item_data)

            turns.append(turns_item)

        text = d.pop("text")

        persons = cast(list[Any], d.pop("persons"))

        detections = cast(list[Any], d.pop("detections"))

        texts = cast(list[Any], d.pop("texts"))

        text_score = d.pop("text_score", UNSET)

        p_present = d.pop("p_present", UNSET)

        found_by = cast(list[str], d.pop("found_by", UNSET))

        recorded_at = d.pop("recorded_at", UNSET)

        _certainty = d.pop("certainty", UNSET)
        certainty: FullResultCertainty | Unset
        if isinstance(_certainty, Unset):
            certainty = UNSET
        else:
            certainty = FullResultCertainty.from_dict(_certainty)

        records = d.pop("records", UNSET)

        full_result = cls(
            moment_id=moment_id,
            video_id=video_id,
            chunk_id=chunk_id,
            start=start,
            end=end,
            timecode=timecode,
            score=score,
            video_url=video_url,
            description=description,
            people=people,
            objects=objects,
            actions=actions,
            tags=tags,
            speakers=speakers,
            people_count=people_count,
            turns=turns,
            text=text,
            persons=persons,
            detections=detections,
            texts=texts,
            text_score=text_score,
            p_present=p_present,
            found_by=found_by,
            recorded_at=recorded_at,
            certainty=certainty,
            records=records,
        )

        return full_result
