#!/usr/bin/env python3
"""Measures a running service on footage with known content and prints a line per figure.

    SHOTLOG_MEDIA=… scripts/eval/footage.py BASE_URL [cuts] [speech] [objects] [text] [speed]    (default: all)
    EVAL_FINDINGS=FILE … scripts/eval/footage.py BASE_URL findings

The second form writes the cuts, objects and text of every clip to FILE or, if FILE exists, prints the differences.

SHOTLOG_EVAL_TEST=… names a folder of test clips with cuts.json, speech.json and clips/, which are measured as well.
scripts/eval/clips.json marks each clip as development or test. The cuts of test clips have been inspected during
development since, and are printed as seen.
Uses only the API. Needs ffmpeg, and for `cuts` the PyPI package scenedetect. Called by scripts/eval.sh, which starts
the service.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid

MEDIA = pathlib.Path(os.environ["SHOTLOG_MEDIA"])
TRUTH = json.loads((MEDIA / "ground_truth.json").read_text())
TEST = pathlib.Path(os.environ["SHOTLOG_EVAL_TEST"]) if os.environ.get("SHOTLOG_EVAL_TEST") else None
CLIP_LIST = pathlib.Path(__file__).with_name("clips.json")
CLIPS = json.loads(CLIP_LIST.read_text())
missed = []


def check(name, value, holds):
    """Prints a figure and whether it meets its bar."""
    print(f"  {'ok  ' if holds else 'MISS'} {name}: {value}", flush=True)
    if not holds:
        missed.append(name)


# ---------------------------------------------------------------- the service


def call(path, body=None, kind="application/json", method=None):
    request = urllib.request.Request(sys.argv[1] + path, data=body, method=method)
    if body is not None:
        request.add_header("Content-Type", kind)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{path}: {error.code} {error.read().decode()}") from None


def ingest(file, **fields):
    """Ingests a file; returns the result of the job and the seconds it took."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    name = pathlib.Path(file).name
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = "".join([*parts, head]).encode() + pathlib.Path(file).read_bytes()
    body += f"\r\n--{boundary}--\r\n".encode()
    start = time.monotonic()
    job = call("/videos", body, f"multipart/form-data; boundary={boundary}")
    while True:
        state = call(f"/jobs/{job['job_id']}")
        if state["status"] == "failed":
            raise SystemExit(f"{name}: {state['error']}")
        if state["status"] == "done":
            return state["result"], time.monotonic() - start
        time.sleep(0.05)


def chunks(video_id):
    return call(f"/videos/{video_id}/chunks?limit=500&verbose=true")["chunks"]


def available(*analyzers):
    installed = call("/analyzers")["analyzers"]
    return ",".join(a for a in analyzers if a in installed)


# ---------------------------------------------------------------- clips


def clips(paths):
    """Name, path and split of the clips in `paths` (name to path) that exist and are listed. Development clips were in
    view when constants were chosen; test clips were set aside before."""
    for name, path in paths.items():
        entry = CLIPS.get(name)
        if entry is None:
            print(f"       {name}: skipped, not in {CLIP_LIST.name}")
        elif not path.is_file():
            print(f"       {name}: skipped, file not found")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
            print(f"       {name}: skipped, different file than {entry['origin']}")
        else:
            yield name, path, entry["split"]


def test_truth(name):
    """A ground-truth file of the test clips; empty without it."""
    file = TEST / name if TEST else None
    return json.loads(file.read_text()) if file and file.is_file() else {}


def summary(by_split, figure):
    """Prints a line per split: the figure over all its clips, and their number."""
    for split, values in by_split.items():
        print(f"       all {split} clips ({len(values)}): {figure(values)}", flush=True)


# ---------------------------------------------------------------- cuts


def judge(detected, truth, tolerance=0.1):
    """True positives, false positives and misses of detected cuts; those in ignored spans do not count."""
    expected = list(truth["cuts"])
    hits, wrong = 0, 0
    for t in detected:
        near = [e for e in expected if abs(e - t) <= tolerance + 1e-6]
        if near:
            expected.remove(min(near, key=lambda e: abs(e - t)))
            hits += 1
        elif not any(a <= t <= b for a, b in truth["ignored"]):
            wrong += 1
    return hits, wrong, len(expected)


def f1(hits, wrong, left):
    return 1.0 if hits + wrong + left == 0 else 2 * hits / (2 * hits + wrong + left)


def development_cuts():
    for name in ["demo_public.mp4", "bench_5min_720p.mp4", "googlework_short.mp4", "psd_testvideo.mp4",
                 "intel_car-detection.mp4", "intel_bottle-detection.mp4", "cockatoo.mp4", "skv_bikes.mp4",
                 "mmaction_demo.mp4", "ForBiggerEscapes.mp4"]:
        entry = TRUTH[name]
        ignored = [(t - 0.3, t + 0.3) for t in entry.get("ambiguous", [])]
        for text in entry.get("soft_transitions", []):
            times = [float(w) for w in re.findall(r"\d+\.?\d*", text)]
            ignored.append((times[0] - 0.3, times[1] + 0.3))
        if "fade_boundaries_sec" in entry:
            fades = [t for t in entry["fade_boundaries_sec"] if t > 0]
            yield name, {"cuts": fades, "ignored": [*ignored, (max(fades) + 1.7, 1e5)]}
        else:
            yield name, {"cuts": entry["cuts"], "ignored": ignored}


def test_cuts():
    truth = test_truth("cuts.json")
    for name, times in truth.items():
        if name in CLIPS:
            ignored = [tuple(a["span"]) for a in truth.get("ambiguous", []) if a["file"] == name]
            yield name, {"cuts": times, "ignored": ignored}


def peer_cuts(file, kind):
    import scenedetect

    detector = scenedetect.ContentDetector() if kind == "content" else scenedetect.AdaptiveDetector()
    scenes = scenedetect.detect(str(file), detector)
    return [scene[0].seconds for scene in scenes[1:]]


def at_best_offset(detected, truth):
    """The judgement with the best constant offset: a peer counts from its first frame, the truth is on the
    container's timeline."""
    judged = [judge([t + i / 100 for t in detected], truth) for i in sorted(range(-150, 151, 2), key=abs)]
    return max(judged, key=lambda j: f1(*j))


def cuts():
    print("cuts, F1 at 0.1 s (ours / PySceneDetect content / adaptive, their time offset corrected)")
    truths = dict([*development_cuts(), *test_cuts()])
    paths = {name: MEDIA / name for name in truths if CLIPS[name]["split"] == "development"}
    paths.update({name: TEST / "clips" / name for name in truths if name not in paths})
    by_split = {}
    for name, path, split in clips(paths):
        # The cuts of the test clips were inspected when a rule was fixed, so they are no longer test data.
        split = "seen" if split == "test" else split
        truth = truths[name]
        video = ingest(path, analyzers="default_video", mode="interval", interval=600)[0]["video_id"]
        body = json.dumps({"mode": "weights", "cut": 1, "min_duration": 0.05, "max_duration": 100000}).encode()
        preview = call(f"/videos/{video}/chunking/preview", body)
        judged = [judge([b["time"] for b in preview["boundaries"]], truth)]
        judged += [at_best_offset(peer_cuts(path, kind), truth) for kind in ("content", "adaptive")]
        by_split.setdefault(split, []).append(judged)
        ours, *peers = (f1(*j) for j in judged)
        shown = " / ".join(f"{f1(*j):.3f}" for j in judged)
        if split == "development":
            minimum = 0.8 if name == "psd_testvideo.mp4" else 0.97
            check(f"{name}, {split} (at least {minimum}, and no peer better)", shown, ours >= minimum and ours >= max(peers))
        else:
            counts = " / ".join("{} right, {} wrong, {} missed".format(*j) for j in judged)
            print(f"       {name}, {split}: {shown} ({counts})", flush=True)

    def together(values):
        return " / ".join(f"{f1(*map(sum, zip(*judged))):.3f}" for judged in zip(*values))

    summary(by_split, together)


# ---------------------------------------------------------------- speech


def words(text):
    return re.sub(r"[^\w' ]", " ", text.lower().replace("-", " ")).split()


def word_errors(expected, recognised):
    """Inserted, deleted and substituted words, and the number of expected words."""
    a, b = words(expected), words(recognised)
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1], len(a)


def spoken_turns(name):
    entry = TRUTH[name]
    if "rttm" in entry:
        return [(speaker, start, end) for speaker, start, end in entry["rttm"]]
    if "segments" in entry:
        return [(str(s["speaker"]), s["start"], s["end"]) for s in entry["segments"]]
    return [("1", start, end) for _, start, end in entry["utterances"]]


def diarization_error(truth, detected, scored=None, collar=0.25, step=0.01):
    """Diarization error rate: missed, false and confused speech over all speech, under the best mapping of speakers."""
    import itertools

    end = scored or max(t[2] for t in truth + detected)
    edges = [e for t in truth for e in t[1:]]
    times = [i * step for i in range(int(end / step))]
    times = [t for t in times if all(abs(t - e) > collar for e in edges)]
    at = lambda turns, t: {s for s, a, b in turns if a <= t < b}
    frames = [(at(truth, t), at(detected, t)) for t in times]
    names, labels = sorted({t[0] for t in truth}), sorted({t[0] for t in detected})
    total = sum(len(a) for a, _ in frames)
    labels += [None] * max(0, len(names) - len(labels))
    best = None
    for naming in itertools.permutations(labels, len(names)):
        same = dict(zip(naming, names))
        error = sum(max(len(a), len(b)) - len(a & {same.get(s) for s in b}) for a, b in frames)
        best = error if best is None else min(best, error)
    return best / total


# Clips and their maximum error rates.
DIARIZED = {
    "pyannote_sample.wav": 0.10,
    "falcon_test.wav": 0.10,
    "demo_public.mp4": 0.10,
    "ami_dev00.wav": 0.25,
    "ami_dev01.wav": 0.25,
    "jfk.wav": 0.10,
    "leopard_quilter.wav": 0.10,
    "azure_weather.wav": 0.10,
}


def speech():
    analyzers = available("diarization") or sys.exit("the service does not diarize")
    print("diarization, error rate with a collar of 0.25 s")
    errors = {}
    for name, path, split in clips({name: MEDIA / name for name in DIARIZED}):
        maximum = DIARIZED[name]
        if name == "leopard_quilter.wav":
            w = TRUTH[name]["words"]
            truth = [("1", w[0][1], w[-1][2])]
        elif "speech" in TRUTH[name]:
            truth = [(s["speaker"], s["start"], s["end"]) for s in TRUTH[name]["speech"]]
        else:
            truth = spoken_turns(name)
        video = ingest(path, analyzers=analyzers, mode="interval", interval=600)[0]["video_id"]
        turns = [(t["speaker"], t["start"], t["end"]) for c in chunks(video) for t in c["diarization"]["turns"]]
        count, expected = len({t[0] for t in turns}), len({t[0] for t in truth})
        error = diarization_error(truth, turns, TRUTH[name].get("uem", [0, None])[1])
        errors.setdefault(split, []).append(error)
        holds = abs(count - expected) <= 1 and error <= maximum
        check(f"{name}, {split} (at most {maximum}, {expected} speakers)", f"{error:.3f}, {count} speakers", holds)
        if os.environ.get("EVAL_VERBOSE"):
            print("   ", turns)
    summary(errors, lambda values: f"{sum(values) / len(values):.3f} on average")
    if "transcript" not in call("/analyzers")["analyzers"]:
        print("no speech recogniser is configured")
        return
    original = reference_recogniser()
    print("word errors (ours / faster-whisper with the same weights, greedy, with voice activity detection)")
    texts = {name: (MEDIA / name, expected) for name, expected in sorted(transcripts().items())}
    for entry in test_truth("speech.json"):
        texts[pathlib.Path(entry["file"]).name] = (TEST / entry["file"], entry["text"])
    by_split = {}
    for name, path, split in clips({name: path for name, (path, _) in texts.items()}):
        expected = texts[name][1]
        recognised = transcribe(path)
        wrong, count = word_errors(expected, recognised)
        theirs, _ = word_errors(expected, original(path)[0])
        by_split.setdefault(split, []).append((wrong, theirs, count))
        maximum = theirs + max(2, 0.02 * count)
        shown = f"{wrong} / {theirs}  \"{recognised[:160]}\""
        if split == "development":
            check(f"{name}, {split} (at most {maximum:.0f} of {count})", shown, wrong <= maximum)
        else:
            print(f"       {name}, {split} ({count} words): {shown}", flush=True)

    def share(values):
        wrong, theirs, count = map(sum, zip(*values))
        return f"{wrong / count:.3f} / {theirs / count:.3f} of {count} words"

    summary(by_split, share)
    recognition_cost(original)
    print("words recognised in a minute without speech")
    with tempfile.TemporaryDirectory() as folder:
        for kind, file in minutes_without_speech(pathlib.Path(folder)):
            recognised = transcribe(file)
            check(f"{kind} (none)", f"\"{recognised}\"", not recognised)


def recognition_cost(original):
    """Prints the CPU time for recognising five minutes: an ingest with transcript minus one without."""
    print("CPU seconds per second of sound (ours / faster-whisper)")
    name = "bench_5min_720p.mp4"
    clip, seconds, spent = (MEDIA / name).read_bytes(), TRUTH[name]["duration"], []
    with tempfile.TemporaryDirectory() as folder:
        for number, analyzer in enumerate(("default_video", "transcript"), 1):
            # An empty box makes it a different video, so that no stored result is reused.
            copy = pathlib.Path(folder) / name
            copy.write_bytes(clip + b"\0\0\0\x08free" * number)
            before = cpu_seconds(os.environ["EVAL_SERVICE"])
            ingest(copy, analyzers=analyzer, mode="interval", interval=600)
            spent.append((cpu_seconds(os.environ["EVAL_SERVICE"]) - before) / seconds)
    ours, theirs = spent[1] - spent[0], original(MEDIA / name)[1] / seconds
    shown = f"{ours:.3f} / {theirs:.3f}; with decoding and speech detection {spent[1]:.3f}"
    check(f"{name} (at most 1.0 × theirs)", shown, ours <= theirs)


def transcripts():
    """The complete transcripts, by clip."""
    texts = {name: entry["transcript"] for name, entry in TRUTH.items() if entry.get("transcript")}
    texts["falcon_test.wav"] = " ".join(s["text"] for s in TRUTH["falcon_test.wav"]["segments"])
    texts["demo_public.mp4"] = " ".join(s["text"] for s in TRUTH["demo_public.mp4"]["speech"])
    return texts


def transcribe(file):
    video = ingest(file, analyzers="transcript", mode="interval", interval=600)[0]["video_id"]
    return " ".join(c["transcript"]["text"] for c in chunks(video) if "transcript" in c)


def reference_recogniser():
    """A function from a file to the text recognised by the reference implementation, and its CPU seconds."""
    import faster_whisper

    model = faster_whisper.WhisperModel(os.environ["EVAL_WHISPER"], device="cpu", compute_type="int8", cpu_threads=2)

    def recognise(file):
        sound = faster_whisper.audio.decode_audio(str(file))
        before = time.process_time()
        segments, _ = model.transcribe(sound, beam_size=1, vad_filter=True, word_timestamps=True)
        return "".join(segment.text for segment in segments), time.process_time() - before

    return recognise


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def minutes_without_speech(folder):
    """WAV files with one minute each of silence, noise and music."""
    import wave

    import numpy as np

    rate, random = 16000, np.random.default_rng(1)
    t = np.arange(60 * rate) / rate
    white = random.standard_normal(len(t))
    spectrum = np.fft.rfft(white) / np.sqrt(np.maximum(np.arange(len(t) // 2 + 1), 1))
    pink = np.fft.irfft(spectrum, len(t))
    scale = 220 * 2 ** (np.array([0, 3, 7, 10, 12, 7, 3, 5]) / 12)
    note = scale[(t * 2).astype(int) % len(scale)]
    melody = sum(np.sin(2 * np.pi * n * note * t) / n for n in range(1, 6)) * np.exp(-3 * (t * 2 % 1))
    bass = np.sin(2 * np.pi * note / 4 * t)
    drum = white * np.exp(-30 * (t % 0.5))
    sounds = {
        "silence": 0 * t,
        "white noise": 0.1 * white,
        "pink noise": 0.1 * pink / np.abs(pink).max(),
        "50 Hz hum": sum(0.2 / n * np.sin(2 * np.pi * 50 * n * t) for n in (1, 2, 3, 4)),
        "music": 0.15 * (melody + bass) + 0.05 * drum,
    }
    for kind, sound in sounds.items():
        file = folder / f"{kind.replace(' ', '_')}.wav"
        with wave.open(str(file), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(rate)
            out.writeframes((np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes())
        yield kind, file


# ---------------------------------------------------------------- pictures


def as_video(picture, folder):
    """A lossless video that shows a still picture for two seconds."""
    file = folder / f"{pathlib.Path(picture).stem}.mkv"
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-loop", "1", "-i", str(picture), "-t", "2",
               "-r", "5", "-c:v", "ffv1", "-pix_fmt", "bgr0", str(file)]
    subprocess.run(command, check=True)
    return file


def size(picture):
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", str(picture)]
    width, height = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip().split(",")[:2]
    return int(width), int(height)


def overlap(a, b):
    """Intersection over union of boxes x, y, width, height."""
    along = [min(a[i] + a[i + 2], b[i] + b[i + 2]) - max(a[i], b[i]) for i in (0, 1)]
    common = max(along[0], 0) * max(along[1], 0)
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def labelled_boxes():
    """Picture, label and box (relative to the picture) of every person, bus, dog and bicycle."""
    labels_used = {"person", "bus", "dog", "bicycle"}
    for name in ["bus.jpg", "dog.jpg"]:
        width, height = size(MEDIA / name)
        for label, boxes in TRUTH[name]["boxes_model"].items():
            for left, top, right, bottom in boxes if label in labels_used else []:
                yield name, label, [left / width, top / height, (right - left) / width, (bottom - top) / height]
    coco = json.loads((MEDIA / "coco_labels_public3.json").read_text())
    labels = {c["id"]: c["name"] for c in coco["categories"]}
    images = {i["id"]: i for i in coco["images"]}
    for box in coco["annotations"]:
        image, label = images[box["image_id"]], labels[box["category_id"]]
        name = f"coco_{pathlib.Path(image['file_name']).name}"
        width, height = size(MEDIA / name)
        x, y, w, h = box["bbox"]
        if label in labels_used:
            yield name, label, [x / width, y / height, w / width, h / height]


def objects():
    if "object_detection" not in call("/analyzers")["analyzers"]:
        print("no object detector is configured (detector.file)")
        return
    print("objects: labelled boxes detected with an IoU of at least 0.5")
    truth = {}
    for name, label, box in labelled_boxes():
        truth.setdefault(name, []).append((label, box))
    with tempfile.TemporaryDirectory() as folder:
        for name, boxes in sorted(truth.items()):
            file = as_video(MEDIA / name, pathlib.Path(folder))
            video = ingest(file, analyzers="object_detection", mode="interval", interval=600)[0]["video_id"]
            seen = [(d["label"], place["box"]) for c in chunks(video) if "object_detection" in c
                    for d in c["object_detection"]["detections"] for place in d["locations"]]
            detected = sum(any(l == label and overlap(b, box) >= 0.5 for l, b in seen) for label, box in boxes)
            check(f"{name} (all)", f"{detected} of {len(boxes)}: {', '.join(label for label, _ in boxes)}",
                detected == len(boxes))


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def closest(expected, lines):
    """The edit distance of a text to the closest sequence of recognised lines, both without white space."""
    squeeze = lambda text: "".join(text.split())
    runs = ["".join(map(squeeze, lines[i:j])) for i in range(len(lines)) for j in range(i + 1, len(lines) + 1)]
    return min((edits(squeeze(expected), run) for run in runs), default=len(expected))


def text():
    print("on-screen text, wrong characters without white space")
    video = ingest(MEDIA / "demo_public.mp4", analyzers="ocr", preset="video", min_duration=1)[0]["video_id"]
    read = chunks(video)
    spaced = 0
    overlays = [(s["start"], s["overlay_text"]) for s in TRUTH["demo_public.mp4"]["shots"] if s["overlay_text"]]
    for start, expected in overlays:
        chunk = next(c for c in read if c["start"] <= start + 0.5 < c["end"])
        lines = [line["text"] for line in chunk.get("ocr", {}).get("texts", [])]
        wrong = closest(expected, lines)
        best = min(lines, key=lambda line: edits(expected, line), default="")
        spaced += best.count(" ") == expected.count(" ")
        check(f"\"{expected}\" (at most 1)", f"{wrong}, recognised as \"{best}\"", wrong <= 1)
    check("spaces (at least 3 of 4)", f"{spaced} of {len(overlays)}", spaced >= 3)
    with tempfile.TemporaryDirectory() as folder:
        for name in ["ocr_en.jpg", "ocr_en_rec.jpg", "ocr_issue_170.png", "ocr_ch_en_num.jpg"]:
            file = as_video(MEDIA / name, pathlib.Path(folder))
            video = ingest(file, analyzers="ocr", mode="interval", interval=600)[0]["video_id"]
            lines = [l["text"] for c in chunks(video) for l in c.get("ocr", {}).get("texts", [])]
            for expected in TRUTH[name].get("text") or TRUTH[name]["text_contains"]:
                wrong = closest(expected, lines)
                check(f"{name} \"{expected[:40]}\" (at most 1)", wrong, wrong <= 1)


def speed():
    print("speed, all analyzers that can be combined")
    chosen = available("default_video", "diarization", "object_detection", "ocr", "people")
    result, seconds = ingest(MEDIA / "demo_public.mp4", analyzers=chosen)
    call(f"/videos/{result['video_id']}", method="DELETE")
    result, seconds = ingest(MEDIA / "demo_public.mp4", analyzers=chosen)
    check(f"demo_public.mp4 with {chosen} (faster than its {result['duration']} s)", f"{seconds:.1f} s",
        seconds < result["duration"])


# ---------------------------------------------------------------- two versions


def results(path):
    """Cuts in milliseconds and, per chunk of ten seconds, object counts, lines of text and people."""
    analyzers = available("object_detection", "ocr", "people")
    video = ingest(path, analyzers=analyzers, mode="interval", interval=10)[0]["video_id"]
    body = json.dumps({"mode": "weights", "cut": 1, "min_duration": 0.05, "max_duration": 100000}).encode()
    preview = call(f"/videos/{video}/chunking/preview", body)
    by_chunk = {}
    for chunk in chunks(video):
        seen = chunk.get("object_detection", {}).get("detections", [])
        read = chunk.get("ocr", {}).get("texts", [])
        people = chunk.get("people", {}).get("people", [])
        by_chunk[f"{chunk['start']:.0f} s"] = {
            "objects": sorted(f"{d['count']} {d['label']}" for d in seen),
            "text": sorted(line["text"] for line in read),
            "people": sorted(f"{p['clothing']}" for p in people),
        }
    return {"cuts": [round(b["time"] * 1000) for b in preview["boundaries"]], "chunks": by_chunk}


def findings():
    file = pathlib.Path(os.environ["EVAL_FINDINGS"])
    names = [n for n in CLIPS if n.endswith((".mp4", ".mov"))]
    now = {name: results(path) for name, path, _ in clips({n: MEDIA / n for n in names})}
    if not file.is_file():
        file.write_text(json.dumps(now, indent=1))
        print(f"findings of {len(now)} clips written to {file}")
        return
    print(f"findings, compared with {file}")
    before = json.loads(file.read_text())
    totals = {}
    for name, after in now.items():
        was = before.get(name, {"cuts": [], "chunks": {}})
        gone, new = set(was["cuts"]) - set(after["cuts"]), set(after["cuts"]) - set(was["cuts"])
        moved = sum(any(abs(a - b) <= 50 for b in new) for a in gone)
        print(f"       {name}: {len(after['cuts'])} cuts, {len(gone)} of {len(was['cuts'])} moved or gone "
              f"({moved} of them by at most 50 ms)", flush=True)
        for place in sorted(gone | new):
            print(f"         cut at {place / 1000} {'is gone' if place in gone else 'is new'}")
        for span, kinds in after["chunks"].items():
            for kind, values in kinds.items():
                earlier = was["chunks"].get(span, {}).get(kind, [])
                same = totals.setdefault(kind, [0, 0])
                same[0] += earlier == values
                same[1] += 1
                if earlier != values:
                    print(f"         {span} {kind}: {earlier} is now {values}")
    for kind, (same, total) in totals.items():
        print(f"       {kind}: equal in {same} of {total} chunks")


PARTS = {"cuts": cuts, "speech": speech, "objects": objects, "text": text, "speed": speed}

if __name__ == "__main__":
    for part in sys.argv[2:] or PARTS:
        {**PARTS, "findings": findings}[part]()
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)
