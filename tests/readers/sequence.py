"""Reads an exported sequence independently of the service, and prints its clips as JSON.

    sequence.py FILE RATE

RATE is the frame rate of the sequence, such as 30000/1001, which edit lists do not state. Each clip is
`[first, frames, record]`: its first frame in the source, counted from timecode 0, its number of frames in the
source, and its first frame in the sequence, counted from the sequence's start. Fails if a time is not a whole number
of frames. Edit lists and OTIO files are read with OpenTimelineIO. XML is read here, with fractions; if OpenTimelineIO
has an adapter for it, that must agree.
"""

import csv
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

try:
    import opentimelineio as otio
    import otio_cmx3600_adapter  # noqa: F401
except ImportError as missing:
    print("skipped:", missing)
    sys.exit()


def whole(number, what):
    """A number of frames, which must be whole."""
    assert number == int(number), f"{what}: {number} is no whole number of frames"
    return int(number)


def frames(time, what):
    return whole(time.value, what)


def timeline_clips(timeline):
    """The clips and gaps of the first track, read by OpenTimelineIO, each with its first frame and length."""
    for item in timeline.tracks[0]:
        span = item.source_range
        yield item, frames(span.start_time, item.name), frames(span.duration, item.name)


def read_edl(path, rate):
    clips, record = [], 0
    for item, first, length in timeline_clips(otio.adapters.read_from_file(path, rate=float(rate))):
        if isinstance(item, otio.schema.Clip):
            clips.append([first, length, record])
        record += length
    return clips


def read_otio(path):
    timeline = otio.adapters.read_from_file(path)
    clips = []
    for clip, first, length in timeline_clips(timeline):
        media = clip.media_reference
        assert isinstance(media, otio.schema.ExternalReference) and media.target_url, clip.name
        available = media.available_range
        assert available.start_time <= clip.source_range.start_time, clip.name
        assert clip.source_range.end_time_exclusive() <= available.end_time_exclusive(), clip.name
        record = clip.range_in_parent().start_time.rescaled_to(timeline.global_start_time.rate)
        clips.append([first, length, round(record.value)])
    return clips


def seconds(text):
    assert text.endswith("s"), text
    return Fraction(text[:-1])


def read_fcpxml(path):
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.get("version")) == ("fcpxml", "1.10")
    lengths = {f.get("id"): seconds(f.get("frameDuration")) for f in root.iter("format")}
    assets = {a.get("id"): a for a in root.iter("asset")}
    sequence = root.find("./library/event/project/sequence")
    frame = lengths[sequence.get("format")]
    clips, end = [], seconds(sequence.get("tcStart"))
    for clip in sequence.findall("./spine/asset-clip"):
        name, asset = clip.get("name"), assets[clip.get("ref")]
        assert asset.find("media-rep").get("src"), name
        assert seconds(clip.get("offset")) == end, f"{name} does not follow the clip before it"
        length = seconds(clip.get("duration"))
        first = seconds(clip.get("start")) / lengths[asset.get("format")]
        assert seconds(asset.get("start")) <= seconds(clip.get("start")), name
        record = (end - seconds(sequence.get("tcStart"))) / frame
        clips.append([whole(first, name), whole(length / frame, name), whole(record, name)])
        end += length
    assert end - seconds(sequence.get("tcStart")) == seconds(sequence.get("duration"))
    return clips


def number(element, path):
    return int(element.find(path).text)


def read_xmeml(path):
    root = ElementTree.parse(path).getroot()
    assert (root.tag, root.get("version")) == ("xmeml", "5")
    files = {f.get("id"): f for f in root.iter("file") if f.find("name") is not None}
    clips, end = [], 0
    for clip in root.findall("./sequence/media/video/track/clipitem"):
        name, file = clip.find("name").text, files[clip.find("file").get("id")]
        assert number(clip, "start") == end, f"{name} does not follow the clip before it"
        end = number(clip, "end")
        assert number(clip, "out") <= number(clip, "duration"), name
        first = number(file, "timecode/frame") + number(clip, "in")
        clips.append([first, number(clip, "out") - number(clip, "in"), number(clip, "start")])
    assert end == number(root, "./sequence/duration")
    linked = {link.text for link in root.iter("linkclipref")}
    assert linked <= {clip.get("id") for clip in root.iter("clipitem")}
    return clips


def read_clip_list(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    clips, record = [], 0
    for row in rows:
        rate = Fraction(row["frame_rate"])
        opened = otio.opentime.from_timecode(row["source_in"], float(rate))
        closed = otio.opentime.from_timecode(row["source_out"], float(rate))
        start = otio.opentime.from_timecode(row["record_in"], float(rate))
        assert frames(closed - opened, row["name"]) == int(row["frames"])
        assert int(row["end_frame"]) - int(row["first_frame"]) == int(row["frames"])
        clips.append([frames(opened, row["name"]), int(row["frames"]), frames(start, row["name"])])
    return clips


def adapter_agrees(name, path, clips, tolerance=0):
    """Compares with what an adapter of OpenTimelineIO reads, up to a number of frames, if it is installed."""
    try:
        __import__(f"otio_{name}_adapter")
    except ImportError as missing:
        print("skipped:", missing, file=sys.stderr)
        return
    found = otio.adapters.read_from_file(path)
    timeline = found[0] if isinstance(found, otio.schema.SerializableCollection) else found
    found = [item for item in timeline.video_tracks()[0] if isinstance(item, otio.schema.Clip)]
    spans = [clip.source_range for clip in found]
    read = [[round(span.start_time.value), round(span.duration.value)] for span in spans]
    assert len(read) == len(clips), f"{name}: {read} {clips}"
    for own, other in zip(clips, read):
        assert all(abs(a - b) <= tolerance for a, b in zip(own, other)), f"{name}: {other} {own}"


def main(path, rate):
    rate = Fraction(rate)
    if path.endswith(".edl"):
        return read_edl(path, rate)
    if path.endswith(".otio"):
        return read_otio(path)
    if path.endswith(".csv"):
        return read_clip_list(path)
    # The adapters compute with decimals, so they round the lengths of clips whose rate differs from the sequence's.
    has_one_rate = pathlib.Path(path).stem != "mixed"
    if path.endswith(".fcpxml"):
        clips = read_fcpxml(path)
        # This adapter truncates frame rates to whole numbers, and times in decimals to whole frames.
        if has_one_rate and rate.denominator == 1:
            adapter_agrees("fcpx_xml", path, clips, tolerance=1)
        return clips
    clips = read_xmeml(path)
    if has_one_rate:
        adapter_agrees("fcp", path, clips)
    return clips


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2])))
