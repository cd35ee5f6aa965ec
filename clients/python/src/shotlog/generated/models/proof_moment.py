from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ProofMoment")


@_attrs_define
class ProofMoment:
    """A moment that proves a term.

    Attributes:
        moment_id (str): Stable id of the moment, for `GET /moments/{moment_id}`.
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        text (str | Unset): The words that are spoken or read.
        label (str | Unset): Label of the thing or tag.
        speaker (str | Unset): Label or name of the speaker.
        count (int | Unset): Number of people or things.
        probability (float | Unset): Confidence of the words, or probability of the label or hit, from 0 to 1.
    """

    moment_id: str
    start: float
    end: float
    text: str | Unset = UNSET
    label: str | Unset = UNSET
    speaker: str | Unset = UNSET
    count: int | Unset = UNSET
    probability: float | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        moment_id = self.moment_id

        start = self.start

        end = self.end

        text = self.text

        label = self.label

        speaker = self.speaker

        count = self.count

        probability = self.probability

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "moment_id": moment_id,
                "start": start,
                "end": end,
            }
        )
        if text is not UNSET:
            field_dict["text"] = text
        if label is not UNSET:
            field_dict["label"] = label
        if speaker is not UNSET:
            field_dict["speaker"] = speaker
        if count is not UNSET:
            field_dict["count"] = count
        if probability is not UNSET:
            field_dict["probability"] = probability

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        moment_id = d.pop("moment_id")

        start = d.pop("start")

        end = d.pop("end")

        text = d.pop("text", UNSET)

        label = d.pop("label", UNSET)

        speaker = d.pop("speaker", UNSET)

        count = d.pop("count", UNSET)

        probability = d.pop("probability", UNSET)

        proof_moment = cls(
            moment_id=moment_id,
            start=start,
            end=end,
            text=text,
            label=label,
            speaker=speaker,
            count=count,
            probability=probability,
        )

        proof_moment.additional_properties = d
        return proof_moment

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
