from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MinimalResult")


@_attrs_define
class MinimalResult:
    """A search hit at `detail=minimal`.

    Attributes:
        moment_id (str): Stable id of the moment, for `GET /moments/{moment_id}`.
        video_id (str): Id of the video.
        chunk_id (int): Id of the chunk.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        timecode (str): Start and end as a timecode.
        score (float | None): Cosine similarity, from 0 to 1; null in a listing, which has no scores.
        snippet (str): First 180 characters of the text.
        text_score (float | Unset): BM25 score; present in the modes `text` and `hybrid` if words of the query match.
        p_present (float | Unset): Calibrated probability (0 to 1) that the chunk really contains what was searched for;
            absent
            if the request has no search text.
        found_by (list[str] | Unset): Ids of the analyzers whose output matched, most probable match first; present if
            the output
            of all analyzers was searched.
    """

    moment_id: str
    video_id: str
    chunk_id: int
    start: float
    end: float
    timecode: str
    score: float | None
    snippet: str
    text_score: float | Unset = UNSET
    p_present: float | Unset = UNSET
    found_by: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        video_id = self.video_id

        chunk_id = self.chunk_id

        start = self.start

        end = self.end

        timecode = self.timecode

        score: float | None
        score = self.score

        snippet = self.snippet

        text_score = self.text_score

        p_present = self.p_present

        found_by: list[str] | Unset = UNSET
        if not isinstance(self.found_by, Unset):
            found_by = self.found_by

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
                "snippet": snippet,
            }
        )
        if text_score is not UNSET:
            field_dict["text_score"] = text_score
        if p_present is not UNSET:
            field_dict["p_present"] = p_present
        if found_by is not UNSET:
            field_dict["found_by"] = found_by

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
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

        snippet = d.pop("snippet")

        text_score = d.pop("text_score", UNSET)

        p_present = d.pop("p_present", UNSET)

        found_by = cast(list[str], d.pop("found_by", UNSET))

        minimal_result = cls(
            moment_id=moment_id,
            video_id=video_id,
            chunk_id=chunk_id,
            start=start,
            end=end,
            timecode=timecode,
            score=score,
            snippet=snippet,
            text_score=text_score,
            p_present=p_present,
            found_by=found_by,
        )

        return minimal_result
