#!/usr/bin/env python3
"""Generates files that a decoder must survive: `bombs` and damaged copies of small clips.

    corpus.py bombs FOLDER
    corpus.py damaged FOLDER COUNT [SEED]

The clips are made by ffmpeg; the rest are crafted bytes, reproducible for a seed. `damaged` also writes
FOLDER/real.json with the true length of the originals in seconds.
"""

import json
import pathlib
import random
import struct
import subprocess
import sys

PICTURE = "testsrc2=s=160x90:r=25:d={d}"
SOUND = "sine=440:r=22050:d={d}"
SECONDS = 2

# Extension → encoder options of video and audio; None if the container has only one of them.
CLIPS = {
    "mp4": ("-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p", "-c:a aac"),
    "mov": ("-c:v mpeg4 -q:v 8", "-c:a pcm_s16le"),
    "mkv": ("-c:v libx264 -preset ultrafast -g 25 -pix_fmt yuv420p", "-c:a flac"),
    "webm": ("-c:v libvpx -b:v 200k -cpu-used 8", "-c:a libvorbis"),
    "avi": ("-c:v mpeg4 -q:v 8", "-c:a libmp3lame"),
    "ts": ("-c:v mpeg2video -q:v 8", "-c:a mp2"),
    "flv": ("-c:v flv -q:v 8", "-c:a libmp3lame"),
    "gif": ("-r 10", None),
    "wav": (None, "-c:a pcm_s16le"),
    "flac": (None, "-c:a flac"),
    "mp3": (None, "-c:a libmp3lame"),
}


def clip(path, picture, sound, seconds=SECONDS):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    if picture is not None:
        command += ["-f", "lavfi", "-i", PICTURE.format(d=seconds)]
    if sound is not None:
        command += ["-f", "lavfi", "-i", SOUND.format(d=seconds)]
    command += (picture or "").split() + (sound or "").split() + [str(path)]
    subprocess.run(command, check=True)
    return path.read_bytes()


def box(kind, *parts):
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full(kind, *parts):
    return box(kind, bytes(4), *parts)


def track(number, samples, url=None):
    """An MP4 track that claims `samples` samples, or refers to another file."""
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    header = struct.pack(">IIIII", 0, 0, number, 0, 3000) + bytes(16) + matrix + struct.pack(">II", 160 << 16, 90 << 16)
    entry = bytes(6) + struct.pack(">H", 1) + bytes(16) + struct.pack(">HH", 160, 90)
    entry += struct.pack(">IIIH", 0x480000, 0x480000, 0, 1) + bytes(32) + struct.pack(">Hh", 24, -1)
    reference = full(b"url ", url) if url else box(b"url ", b"\0\0\0\1")
    table = box(
        b"stbl",
        full(b"stsd", struct.pack(">I", 1), box(b"mp4v", entry)),
        full(b"stts", struct.pack(">III", 1, samples, 1)),
        full(b"stsc", struct.pack(">IIII", 1, 1, samples, 1)),
        full(b"stsz", struct.pack(">II", 1, samples)),
        full(b"stco", struct.pack(">II", 1, 48)),
    )
    media = box(
        b"mdia",
        full(b"mdhd", struct.pack(">IIIII", 0, 0, 1000, 3000, 0x55C40000)),
        full(b"hdlr", struct.pack(">I4s", 0, b"vide"), bytes(13)),
        box(b"minf", full(b"vmhd", bytes(8)), box(b"dinf", full(b"dref", struct.pack(">I", 1), reference)), table),
    )
    return box(b"trak", full(b"tkhd", header), media)


def movie(*tracks):
    header = struct.pack(">IIIIIH", 0, 0, 1000, 3000, 0x10000, 0x100) + bytes(70) + struct.pack(">I", len(tracks) + 1)
    return box(b"ftyp", b"isom", bytes(4), b"isom") + box(b"mdat", bytes(64)) + box(b"moov", full(b"mvhd", header), *tracks)


def put(data, mark, offset, value):
    """`data` with `value` written at `offset` bytes from the first `mark`."""
    at = data.index(mark) + offset
    return data[:at] + value + data[at + len(value) :]


def slow_sounds(folder):
    data = clip(folder / "tmp.wav", None, "-c:a pcm_s16le")
    yield "one_hertz.wav", put(data, b"fmt ", 12, struct.pack("<II", 1, 2))
    data = clip(folder / "tmp.aiff", None, "-c:a pcm_s16be")
    yield "one_hertz.aiff", put(data, b"COMM", 16, struct.pack(">HQ", 0x3FFF, 1 << 63))
    data = clip(folder / "tmp.flac", None, "-c:a flac")
    # The stream information has the sample rate in 20 bits.
    rest = data[20] & 0x0F
    yield "one_hertz.flac", data[:18] + bytes([0, 0, 0x10 | rest]) + data[21:]


def large_pictures(folder):
    data = clip(folder / "tmp.gif", "-r 10", None)
    yield "large.gif", data[:6] + struct.pack("<HH", 65535, 65535) + data[10:]
    data = clip(folder / "tmp.avi", "-c:v mjpeg", None)
    sized = put(put(data, b"avih", 40, struct.pack("<II", 65500, 65500)), b"strf", 12, struct.pack("<ii", 65500, 65500))
    yield "large.avi", sized.replace(b"\xff\xc0\x00\x11\x08\x00\x5a\x00\xa0", b"\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc")
    data = clip(folder / "tmp.mov", "-c:v png", None)
    yield "large.mov", data.replace(struct.pack(">II", 160, 90), struct.pack(">II", 60000, 60000))
    data = clip(folder / "tmp.mkv", "-c:v ffv1", None)
    yield "large.mkv", put(data, b"\xb0\x81\xa0\xba\x81\x5a", 0, b"\xb0\x82\xff\xff\xba\x81")
    data = clip(folder / "tmp.ivf", "-c:v libvpx -b:v 200k", None)
    sized = data[:12] + struct.pack("<HH", 16383, 16383) + data[16:]
    yield "large.ivf", put(sized, b"\x9d\x01\x2a", 3, struct.pack("<HH", 16383, 16383))
    data = clip(folder / "tmp.webm", CLIPS["webm"][0], None)
    yield "large.webm", data.replace(b"\x9d\x01\x2a" + struct.pack("<HH", 160, 90), b"\x9d\x01\x2a\xff\x3f\xff\x3f")
    data = clip(folder / "tmp.y4m", "-f yuv4mpegpipe -pix_fmt yuv420p", None)
    yield "large.y4m", data.replace(b"W160 H90", b"W60000 H60000", 1)


def last_flv_tag(data):
    size = struct.unpack(">I", data[-4:])[0]
    return len(data) - 4 - size


def jumps(folder):
    data = bytearray(clip(folder / "tmp.flv", *CLIPS["flv"]))
    at = last_flv_tag(data)
    data[at + 4] ^= 0xB8  # the upper byte of its time stamp: 12,059 s
    yield "jump.flv", bytes(data)
    data = clip(folder / "tmp.mp4", CLIPS["mp4"][0], None)
    at = data.index(b"stts")
    delta = struct.unpack(">I", data[at + 16 : at + 20])[0]
    entries = struct.pack(">IIIII", 2, 25, delta, 25, delta * 100_000)
    # One entry longer, so the enclosing boxes grow too.
    grown = data[: at + 8] + entries + data[at + 20 :]
    for kind in (b"stts", b"stbl", b"minf", b"mdia", b"trak", b"moov"):
        place = grown.index(kind) - 4
        size = struct.unpack(">I", grown[place : place + 4])[0]
        grown = grown[:place] + struct.pack(">I", size + 8) + grown[place + 4 :]
    yield "jump.mp4", grown
    data = clip(folder / "tmp.mkv", "-c:v mpeg4 -q:v 8 -g 5 -cluster_time_limit 500", None)
    parts = data.split(b"\x1f\x43\xb6\x75")
    cluster = parts[-1]
    at = cluster.index(b"\xe7\x82") + 1
    size = bytes([cluster[0]])
    yield "jump.mkv", b"\x1f\x43\xb6\x75".join(parts[:-1]) + b"\x1f\x43\xb6\x75" + size + cluster[1:at] + b"\x82\xff\xff" + cluster[at + 3 :]


def playlists(address, local):
    yield "list.m3u8", f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{address}/a.ts\n#EXTINF:9,\n{local}\n#EXT-X-ENDLIST\n"
    yield "list.ffconcat", f"ffconcat version 1.0\nfile '{local}'\nfile {address}/b.mp4\n"
    yield "list.mpd", (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><Period><AdaptationSet>'
        f'<Representation id="1" bandwidth="1" mimeType="video/mp4"><BaseURL>{address}/c.mp4</BaseURL></Representation>'
        "</AdaptationSet></Period></MPD>"
    )
    yield "list.sdp", f"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\na=control:{address}\nm=video 5004 RTP/AVP 96\na=rtpmap:96 H264/90000\n"
    yield "list.pls", f"[playlist]\nFile1={address}/d.mp3\nNumberOfEntries=1\nVersion=2\n"
    yield "list.xspf", f'<?xml version="1.0"?><playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList><track><location>{address}/e.mp4</location></track></trackList></playlist>'
    yield "list.asx", f'<asx version="3.0"><entry><ref href="{address}/f.wmv"/></entry></asx>'
    yield "list.smil", f'<smil><body><video src="{address}/g.mp4"/></body></smil>'
    yield "list.ram", f"{address}/h.rm\n"
    yield "list.imf", f'<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>urn:uuid:0</Id><Annotation>{address}</Annotation></CompositionPlaylist>'
    yield "list.ffmeta", ";FFMETADATA1\ntitle=x\n"


def bombs(folder, address):
    files = {
        "claimed_samples.mp4": movie(*(track(n + 1, 10_000_000) for n in range(16))),
        "more_claimed_samples.mp4": movie(*(track(n + 1, 100_000_000) for n in range(60))),
        "all_claimed_samples.mp4": movie(track(1, 2**31 - 1)),
        "many_streams.mp4": movie(*(track(n + 1, 1) for n in range(5000))),
        "elsewhere.mp4": movie(track(1, 10, f"{address}/x.mp4".encode() + b"\0")),
        "elsewhere_local.mp4": movie(track(1, 10, b"file:///etc/passwd\0")),
    }
    for make in (slow_sounds, large_pictures, jumps):
        files.update(make(folder))
    files.update((name, text.encode()) for name, text in playlists(address, "/etc/passwd"))
    for leftover in folder.glob("tmp.*"):
        leftover.unlink()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    print(f"{len(files)} bombs in {folder}")


def damage(data, rng):
    data = bytearray(data)
    kind = rng.randrange(6)
    if kind == 0:  # truncated
        del data[rng.randrange(1, len(data)) :]
    elif kind == 1:  # a range of zeros
        at = rng.randrange(len(data))
        end = min(len(data), at + rng.randrange(1, 2000))
        data[at:end] = bytes(end - at)
    elif kind == 2:  # a repeated range
        at = rng.randrange(len(data))
        data[at:at] = data[at : at + rng.randrange(1, 5000)]
    elif kind == 3:  # one changed byte near the beginning
        data[rng.randrange(min(len(data), 2000))] ^= rng.randrange(1, 256)
    else:  # a few changed bytes anywhere
        for _ in range(rng.choice((1, 1, 3, 10, 100))):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    return bytes(data)


def damaged(folder, count, seed):
    originals = {kind: clip(folder / f"whole.{kind}", *coding) for kind, coding in CLIPS.items()}
    kinds = sorted(originals)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        rng = random.Random(f"{seed}-{number}")
        (folder / f"{number:05}.{kind}").write_bytes(damage(originals[kind], rng))
    (folder / "real.json").write_text(json.dumps({"seconds": SECONDS}))
    print(f"{count} damaged files in {folder}")


def main():
    match sys.argv[1:]:
        case ["bombs", folder, *address]:
            make, arguments = bombs, address or ["http://127.0.0.1:9"]
        case ["damaged", folder, count, *seed]:
            make, arguments = damaged, [int(count), seed[0] if seed else "0"]
        case _:
            sys.exit(__doc__)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    make(folder, *arguments)


if __name__ == "__main__":
    main()
