"""AAF files for Avid Media Composer, made from the OTIO export of a bin.

Needs the package pyaaf2: `pip install shotlog[aaf]`.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import Shotlog, models

# Names of the video and sound slots of a mob.
PICTURE, SOUND = "picture", "sound"
# Makes the ids of mobs from the ids of videos, so that programs recognise a video in several files.
NAMESPACE = uuid.UUID("6f1c7a0e-2d51-5c0b-9a53-5b2f0f0f6a11")


def save(
    client: Shotlog,
    bin_id: str,
    path: str | os.PathLike[str],
    *,
    missing: models.MissingVideos = "refuse",
) -> None:
    """Writes the selects of a bin to an AAF file, which links to the video files.

    All videos must have the same frame rate; raises `ValueError` if they do not.

    >>> from shotlog import Shotlog, aaf
    >>> client = Shotlog()
    >>> video = next(client.videos(analyzer="transcript"))
    >>> bin = client.create_bin("For the edit")
    >>> added = client.add_selects(bin.bin_id, [{"video_id": video.video_id, "start": 0, "end": 2}])
    >>> aaf.save(client, bin.bin_id, "harbour.aaf")
    """
    write(json.loads(client.export_bin(bin_id, "otio", missing=missing)), path)


def write(timeline: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes a timeline, which is an OTIO export of Shotlog as parsed JSON, to an AAF file.

    Use it with exports that `AsyncShotlog` has downloaded, or that are stored. Raises `ValueError` if it has
    no clips or clips of several frame rates, and `ImportError` without pyaaf2.
    """
    clips = [clip for track in timeline["tracks"]["children"] for clip in track["children"]]
    rate = _common_rate(clips)
    try:
        import aaf2  # noqa: PLC0415
    except ImportError as missing:
        raise ImportError("AAF files need the package pyaaf2: pip install shotlog[aaf]") from missing
    with aaf2.open(os.fspath(path), "w") as file:
        _Writer(file, rate).composition(timeline, clips)


def _common_rate(clips: Sequence[Mapping[str, Any]]) -> Fraction:
    rates = {Fraction(_media(clip)["metadata"]["shotlog"]["frame_rate"]) for clip in clips}
    if not rates:
        raise ValueError("the timeline has no clips; an AAF file needs at least one")
    if len(rates) > 1:
        named = ", ".join(f"{rate.numerator}/{rate.denominator}" for rate in sorted(rates))
        raise ValueError(
            f"the clips have the frame rates {named}; an AAF file has one, so make a bin for each "
            "rate, or export fcpxml or xmeml"
        )
    return rates.pop()


def _media(clip: Mapping[str, Any]) -> Mapping[str, Any]:
    media: Mapping[str, Any] = clip["media_references"][clip["active_media_reference_key"]]
    return media


def _frames(time: Mapping[str, Any]) -> int:
    return round(float(time["value"]))


class _Writer:
    """Writes one composition. `file` is an open file of pyaaf2."""

    def __init__(self, file: Any, rate: Fraction) -> None:
        self.file = file
        self.rate = rate
        # The master mob of each video.
        self.masters: dict[str, Any] = {}

    def composition(self, timeline: Mapping[str, Any], clips: Sequence[Mapping[str, Any]]) -> None:
        mob = self.file.create.CompositionMob(timeline["name"])
        mob.usage = "Usage_TopLevel"
        self.file.content.mobs.append(mob)
        start = timeline["global_start_time"]
        self._timecode(mob, _frames(start), timeline["metadata"]["shotlog"]["drop_frame"])
        for kind in (PICTURE, SOUND):
            if any(_has(clip, kind) for clip in clips):
                self._track(mob, clips, kind)

    def _timecode(self, mob: Any, start: int, is_drop_frame: bool) -> None:
        slot = mob.create_timeline_slot(self.rate)
        slot.name = "TC1"
        slot["PhysicalTrackNumber"].value = 1
        timecode = self.file.create.Timecode(fps=math.ceil(self.rate), drop=is_drop_frame)
        timecode.start = start
        timecode.length = 0
        slot.segment = timecode

    def _track(self, mob: Any, clips: Sequence[Mapping[str, Any]], kind: str) -> None:
        slot = mob.create_timeline_slot(self.rate)
        slot.name = "V1" if kind == PICTURE else "A1"
        slot["PhysicalTrackNumber"].value = 1
        sequence = self.file.create.Sequence(media_kind=kind)
        slot.segment = sequence
        length = 0
        for clip in clips:
            used, available = clip["source_range"], _media(clip)["available_range"]
            frames = _frames(used["duration"])
            start = _frames(used["start_time"]) - _frames(available["start_time"])
            if _has(clip, kind):
                master = self._master(clip)
                (source,) = (slot for slot in master.slots if slot.segment.media_kind.lower() == kind)
                component = master.create_source_clip(source.slot_id, start, frames, kind)
            else:
                component = self.file.create.Filler(kind, frames)
            sequence.components.append(component)
            length += frames
        sequence.length = length

    def _master(self, clip: Mapping[str, Any]) -> Any:
        """The mob of a video, which refers to its file, which refers to its reel and timecode."""
        media = _media(clip)
        video_id = str(clip["metadata"]["shotlog"]["video_id"])
        if video_id in self.masters:
            return self.masters[video_id]
        frames = _frames(media["available_range"]["duration"])
        reel = self._reel(video_id, media, frames)
        source = self.file.create.SourceMob(media["name"])
        source.mob_id = self._mob_id(video_id, "file")
        source.descriptor = self._descriptor(clip, frames)
        master = self.file.create.MasterMob(media["name"])
        master.mob_id = self._mob_id(video_id, "master")
        for mob in (source, master):
            self.file.content.mobs.append(mob)
        for kind in (PICTURE, SOUND):
            if _has(clip, kind):
                of_reel = next((slot for slot in reel.slots if slot.segment.media_kind.lower() == kind), None)
                of_file = self._slot(source, kind, frames, reel, of_reel)
                self._slot(master, kind, frames, source, of_file)
        self.masters[video_id] = master
        return master

    def _reel(self, video_id: str, media: Mapping[str, Any], frames: int) -> Any:
        first = _frames(media["available_range"]["start_time"])
        metadata = media["metadata"]["shotlog"]
        reel = self.file.create.SourceMob(metadata["reel"])
        reel.mob_id = self._mob_id(video_id, "reel")
        reel.descriptor = self.file.create.TapeDescriptor()
        self.file.content.mobs.append(reel)
        for kind in (PICTURE, SOUND):
            slot = reel.create_empty_slot(self.rate, kind)
            slot.segment.length = frames
        slot = reel.create_timeline_slot(self.rate)
        slot["PhysicalTrackNumber"].value = 1
        timecode = self.file.create.Timecode(fps=math.ceil(self.rate), drop=metadata["drop_frame"])
        timecode.start = first
        timecode.length = frames
        slot.segment = timecode
        return reel

    def _descriptor(self, clip: Mapping[str, Any], frames: int) -> Any:
        media = _media(clip)
        if _has(clip, PICTURE):
            width, height = media["metadata"]["shotlog"]["picture_size"] or (1920, 1080)
            descriptor = self.file.create.CDCIDescriptor()
            descriptor["ComponentWidth"].value = 8
            descriptor["HorizontalSubsampling"].value = 2
            descriptor["ImageAspectRatio"].value = f"{width}/{height}"
            descriptor["StoredWidth"].value = width
            descriptor["StoredHeight"].value = height
            descriptor["FrameLayout"].value = "FullFrame"
            descriptor["VideoLineMap"].value = [42, 0]
        else:
            descriptor = self.file.create.PCMDescriptor()
            descriptor["AudioSamplingRate"].value = 48_000
            descriptor["Channels"].value = 2
            descriptor["QuantizationBits"].value = 16
            descriptor["AverageBPS"].value = 192_000
            descriptor["BlockAlign"].value = 4
        descriptor["SampleRate"].value = self.rate
        descriptor["Length"].value = frames
        locator = self.file.create.NetworkLocator()
        locator["URLString"].value = media["target_url"]
        descriptor["Locator"].append(locator)
        return descriptor

    def _slot(self, mob: Any, kind: str, frames: int, source: Any, of_source: Any) -> Any:
        slot = mob.create_timeline_slot(self.rate)
        slot.name = "V1" if kind == PICTURE else "A1"
        slot["PhysicalTrackNumber"].value = 1
        slot.segment = source.create_source_clip(of_source.slot_id, 0, frames, kind)
        return slot

    def _mob_id(self, video_id: str, part: str) -> Any:
        import aaf2  # noqa: PLC0415

        mob_id = aaf2.mobid.MobID.new()
        mob_id.material = uuid.uuid5(NAMESPACE, f"{video_id} {part}")
        return mob_id


def _has(clip: Mapping[str, Any], kind: str) -> bool:
    metadata = _media(clip)["metadata"]["shotlog"]
    # The number of tracks of old videos is unknown; most have sound.
    return bool(metadata["has_picture"] if kind == PICTURE else metadata["audio_tracks"] != 0)
