from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.spoken_word import SpokenWord


T = TypeVar("T", bound="Utterance")


@_attrs_define
class Utterance:
    """A sentence.

    Attributes:
        start (float): Start time, in seconds from the start of the video.
        end (float): End time, in seconds from the start of the video.
        text (str): The words, with punctuation.
        confidence (float): Mean probability of the words, from 0 to 1.
        speaker (str | Unset): Label or name of the speaker; absent without diarization.
        words (list[SpokenWord] | Unset): The words in order; present if `words` is set and the times of the words are
            known.
    """

    start: float
    end: float
    text: str
    confidence: float
    speaker: str | Unset = UNSET
    words: list[SpokenWord] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        start = self.start

        end = self.end

        text = self.text

        confidence = self.confidence

        speaker = self.speaker

        words: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.words, Unset):
            words = []
            for words_item_data in self.words:
                words_item = words_item_data.to_dict()
                words.append(words_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "start": start,
                "end": end,
                "text": text,
                "confidence": confidence,
            }
        )
        if speaker is not UNSET:
            field_dict["speaker"] = speaker
        if words is not UNSET:
            field_dict["words"] = words

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.spoken_word import SpokenWord  # noqa: PLC0415

        d = dict(src_dict)
        start = d.pop("start")

        end = d.pop("end")

        text = d.pop("text")

        confidence = d.pop("confidence")

        speaker = d.pop("speaker", UNSET)

        _words = d.pop("words", UNSET)
        words: list[SpokenWord] | Unset = UNSET
        if _words is not UNSET:
            words = []
            for words_item_data in _words:
                words_item = SpokenWord.from_dict(words_item_data)

                words.append(words_item)

        utterance = cls(
            start=start,
            end=end,
            text=text,
            confidence=confidence,
            speaker=speaker,
            words=words,
        )

        utterance.additional_properties = d
        return utterance

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
