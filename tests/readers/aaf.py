"""Converts an exported timeline (OTIO) to AAF with the Python client, reads it, and prints its clips as JSON.

    aaf.py FILE

Each clip is `[first, frames, record, drop]`: its first frame in the source, counted from timecode 0, its number of
frames, its first frame in the sequence, and whether its timecode is drop-frame. The AAF file is read with pyaaf2, and
OpenTimelineIO's adapter must agree. If the clips have several frame rates, the error of the client is printed.
"""

import importlib.util
import json
import pathlib
import sys

try:
    import aaf2
    import opentimelineio as otio
    import otio_aaf_adapter  # noqa: F401
except ImportError as missing:
    print("skipped:", missing)
    sys.exit()

WRITER = pathlib.Path(__file__).parents[2] / "clients/python/src/shotlog/aaf.py"


def writer():
    """The client's module that writes AAF, which does not need the rest of the client."""
    spec = importlib.util.spec_from_file_location("shotlog_aaf", WRITER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_aaf(path):
    clips, record = [], 0
    with aaf2.open(str(path)) as file:
        (composition,) = file.content.toplevel()
        (picture,) = [slot for slot in composition.slots if slot.media_kind == "Picture"]
        for clip in picture.segment.components:
            source, slot = clip.mob.slot_at(clip.slot_id).segment, picture
            while source.mob is not None:
                mob = source.mob
                assert slot.edit_rate == picture.edit_rate, mob.name
                source, slot = mob.slot_at(source.slot_id).segment, mob.slot_at(source.slot_id)
            (timecode,) = [slot.segment for slot in mob.slots if isinstance(slot.segment, aaf2.components.Timecode)]
            assert clip.start + clip.length <= timecode.length, mob.name
            clips.append([timecode.start + clip.start, clip.length, record, timecode.drop])
            record += clip.length
        assert record == picture.segment.length
    return clips


def adapter_agrees(path, clips):
    timeline = otio.adapters.read_from_file(str(path))
    track = next(track for track in timeline.tracks if track.kind == otio.schema.TrackKind.Video)
    read = []
    for clip in track.find_clips():
        read.append([round(clip.source_range.start_time.value), round(clip.source_range.duration.value)])
    assert read == [clip[:2] for clip in clips], f"{read} {clips}"


def main(path):
    target = pathlib.Path(path).with_suffix(".aaf")
    with open(path, encoding="utf-8") as file:
        timeline = json.load(file)
    try:
        writer().write(timeline, target)
    except ValueError as error:
        return str(error)
    clips = read_aaf(target)
    adapter_agrees(target, clips)
    return clips


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
