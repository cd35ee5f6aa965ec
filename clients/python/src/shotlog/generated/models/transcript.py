from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.language_span import LanguageSpan
    from ..models.utterance import Utterance


T = TypeVar("T", bound="Transcript")


@_attrs_define
class Transcript:
    """
    Attributes:
        video_id (str): Id of the video.
        duration (float): Duration of the video, in seconds.
        language (None | str): ISO 639-1 code of the language that is spoken most; null if unknown.
        utterances (list[Utterance]): Sentences in chronological order.
        total (int): Number of sentences on all pages.
        languages (list[LanguageSpan] | Unset): The spans in which each language is spoken, in chronological order;
            present if there are
            several languages or if some speech was not recognized.
        tokens (int | Unset): Number of tokens in `utterances`; present if `max_tokens` is set.
        tokenizer (str | Unset): Name of the embedder whose tokenizer counted the tokens; present if `max_tokens` is
            set.
        next_ (str | Unset): Cursor for the remaining sentences; absent if nothing is left.
    """

    video_id: str
    duration: float
    language: None | str
    utterances: list[Utterance]
    total: int
    languages: list[LanguageSpan] | Unset = UNSET
    tokens: int | Unset = UNSET
    tokenizer: str | Unset = UNSET
    next_: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        video_id = self.video_id

        duration = self.duration

        language: None | str
        language = self.language

        utterances = []
        for utterances_item_data in self.utterances:
            utterances_item = utterances_item_data.to_dict()
            utterances.append(utterances_item)

        total = self.total

        languages: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.languages, Unset):
            languages = []
            for languages_item_data in self.languages:
                languages_item = languages_item_data.to_dict()
                languages.append(languages_item)

        tokens = self.tokens

        tokenizer = self.tokenizer

        next_ = self.next_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "video_id": video_id,
                "duration": duration,
                "language": language,
                "utterances": utterances,
                "total": total,
            }
        )
        if languages is not UNSET:
            field_dict["languages"] = languages
        if tokens is not UNSET:
            field_dict["tokens"] = tokens
        if tokenizer is not UNSET:
            field_dict["tokenizer"] = tokenizer
        if next_ is not UNSET:
            field_dict["next"] = next_

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.language_span import LanguageSpan  # noqa: PLC0415
        from ..models.utterance import Utterance  # noqa: PLC0415

        d = dict(src_dict)
        video_id = d.pop("video_id")

        duration = d.pop("duration")

        def _parse_language(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        language = _parse_language(d.pop("language"))

        utterances = []
        _utterances = d.pop("utterances")
        for utterances_item_data in _utterances:
            utterances_item = Utterance.from_dict(utterances_item_data)

            utterances.append(utterances_item)

        total = d.pop("total")

        _languages = d.pop("languages", UNSET)
        languages: list[LanguageSpan] | Unset = UNSET
        if _languages is not UNSET:
            languages = []
            for languages_item_data in _languages:
                languages_item = LanguageSpan.from_dict(languages_item_data)

                languages.append(languages_item)

        tokens = d.pop("tokens", UNSET)

        tokenizer = d.pop("tokenizer", UNSET)

        next_ = d.pop("next", UNSET)

        transcript = cls(
            video_id=video_id,
            duration=duration,
            language=language,
            utterances=utterances,
            total=total,
            languages=languages,
            tokens=tokens,
            tokenizer=tokenizer,
            next_=next_,
        )

        transcript.additional_properties = d
        return transcript

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
