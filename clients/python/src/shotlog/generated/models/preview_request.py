from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PreviewRequest")


@_attrs_define
class PreviewRequest:
    """How to split a video into chunks.

    Attributes:
        mode (str | Unset): Chunking mode: `preset`, `weights` or `interval`. Default: `preset`. Default: 'preset'.
        preset (str | Unset): Preset: `audio`, `video` or `audio_video`; used with `mode=preset` only. Default:
            `audio_video`. Default: 'audio_video'.
        speaker (float | None | Unset): Weight of speaker changes, at least 0; used with `mode=weights` only. That mode
            requires at
            least one weight.
        silence (float | None | Unset): Weight of silences, at least 0; used with `mode=weights` only.
        cut (float | None | Unset): Weight of shot boundaries, at least 0; used with `mode=weights` only.
        semantic (float | None | Unset): Weight of topic shifts, at least 0; used with `mode=weights` only.
        interval (float | None | Unset): Chunk duration in seconds; used with `mode=interval` only.
        min_duration (float | Unset): Minimum chunk duration in seconds; ignored with `mode=interval`. Default: 5.
            Default: 5.0.
        max_duration (float | Unset): Maximum chunk duration in seconds; ignored with `mode=interval`. Default: 20.
            Default: 20.0.
    """

    mode: str | Unset = "preset"
    preset: str | Unset = "audio_video"
    speaker: float | None | Unset = UNSET
    silence: float | None | Unset = UNSET
    cut: float | None | Unset = UNSET
    semantic: float | None | Unset = UNSET
    interval: float | None | Unset = UNSET
    min_duration: float | Unset = 5.0
    max_duration: float | Unset = 20.0

    def to_dict(self) -> dict[str, Any]:
        mode = self.mode

        preset = self.preset

        speaker: float | None | Unset
        if isinstance(self.speaker, Unset):
            speaker = UNSET
        else:
            speaker = self.speaker

        silence: float | None | Unset
        if isinstance(self.silence, Unset):
            silence = UNSET
        else:
            silence = self.silence

        cut: float | None | Unset
        if isinstance(self.cut, Unset):
            cut = UNSET
        else:
            cut = self.cut

        semantic: float | None | Unset
        if isinstance(self.semantic, Unset):
            semantic = UNSET
        else:
            semantic = self.semantic

        interval: float | None | Unset
        if isinstance(self.interval, Unset):
            interval = UNSET
        else:
            interval = self.interval

        min_duration = self.min_duration

        max_duration = self.max_duration

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if mode is not UNSET:
            field_dict["mode"] = mode
        if preset is not UNSET:
            field_dict["preset"] = preset
        if speaker is not UNSET:
            field_dict["speaker"] = speaker
        if silence is not UNSET:
            field_dict["silence"] = silence
        if cut is not UNSET:
            field_dict["cut"] = cut
        if semantic is not UNSET:
            field_dict["semantic"] = semantic
        if interval is not UNSET:
            field_dict["interval"] = interval
        if min_duration is not UNSET:
            field_dict["min_duration"] = min_duration
        if max_duration is not UNSET:
            field_dict["max_duration"] = max_duration

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        mode = d.pop("mode", UNSET)

        preset = d.pop("preset", UNSET)

        def _parse_speaker(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        speaker = _parse_speaker(d.pop("speaker", UNSET))

        def _parse_silence(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        silence = _parse_silence(d.pop("silence", UNSET))

        def _parse_cut(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        cut = _parse_cut(d.pop("cut", UNSET))

        def _parse_semantic(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        semantic = _parse_semantic(d.pop("semantic", UNSET))

        def _parse_interval(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        interval = _parse_interval(d.pop("interval", UNSET))

        min_duration = d.pop("min_duration", UNSET)

        max_duration = d.pop("max_duration", UNSET)

        preview_request = cls(
            mode=mode,
            preset=preset,
            speaker=speaker,
            silence=silence,
            cut=cut,
            semantic=semantic,
            interval=interval,
            min_duration=min_duration,
            max_duration=max_duration,
        )

        return preview_request
