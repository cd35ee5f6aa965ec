#!/usr/bin/env python3
"""Measures what a running service sees: labels, and searches for things that only the picture shows.

    scripts/eval/visible.py BASE_URL FOLDER SPLIT

FOLDER has the clips that visible.json lists with their origins; SPLIT is development or test. Prints the precision of
the labels that are stated (objects and people), the recall of stated labels and tags, and for the questions how often
a right moment is first or among the first three, and how often something absent is reported as present. Then searches
with frames of the clips, and with crops of half their width and height, for the moments that they come from. Uses only
the API; the service must have no other videos. Called by scripts/eval.sh.
"""
import base64
import json
import pathlib
import random
import sys
import urllib.request

from footage import call, ingest

TRUTH = json.loads(pathlib.Path(__file__).with_name("visible.json").read_text())
LIKELY = 0.5  # p_present above which something is reported as present
PICTURES = 200  # frames to search with
CROP = 0.5  # width and height of a crop, as a share of the frame
BAR_FRAME = 0.95
BAR_CROP = 0.7


def main():
    _, _, folder, split = sys.argv
    clips = [clip for clip in TRUTH["clips"] if clip["split"] == split]
    videos = {}
    for clip in clips:
        result, _ = ingest(pathlib.Path(folder) / clip["file"], analyzers="default_video,object_detection,people")
        videos[result["video_id"]] = clip
    labels(videos)
    questions = [question for question in TRUTH["questions"] if question["split"] == split]
    names = {video_id: clip["file"] for video_id, clip in videos.items()}
    for title, request in {
        "all analyzers": {"analyzer": "*"},
        "the field visual alone": {"analyzer": "default_video", "field": "visual"},
        "the texts of default_video alone": {"analyzer": "default_video"},
    }.items():
        search(names, questions, title, request)
    pictures(list(videos))


def named(label, thing):
    """Whether a label is one of the names of a visible thing."""
    names = {name.lower() for name in thing["names"]}
    return label.lower() in names or any(label.lower() in (name + "s", name + "es") for name in names)


def labels(videos):
    right, wrong, found, things, tags_right, tags_wrong = 0, [], 0, 0, 0, []
    for video_id, clip in videos.items():
        stated, tags = set(), set()
        for chunk in call(f"/videos/{video_id}/chunks?verbose=true")["chunks"]:
            seen = chunk.get("default_video") or {}
            stated.update(seen.get("objects", []))
            tags.update(label["label"] for label in seen.get("seen", []))
            if (chunk.get("people") or {}).get("people_count"):
                stated.add("person")
        visible = clip["visible"]
        for label in sorted(stated):
            if any(named(label, thing) for thing in visible):
                right += 1
            else:
                wrong.append(f"{clip['file']}: {label}")
        for label in sorted(tags - stated):
            if any(named(label, thing) for thing in visible):
                tags_right += 1
            else:
                tags_wrong.append(f"{clip['file']}: {label}")
        plain = [thing for thing in visible if thing["salience"] != "minor"]
        things += len(plain)
        found += sum(any(named(label, thing) for label in stated | tags) for thing in plain)
    print(f"  stated labels that are right: {right} of {right + len(wrong)}; wrong: {', '.join(wrong) or 'none'}")
    print(f"  tags that are right: {tags_right} of {tags_right + len(tags_wrong)}; wrong: {', '.join(tags_wrong) or 'none'}")
    print(f"  plainly visible things that are stated or tagged: {found} of {things}")


def search(names, questions, title, request):
    first = among_three = 0
    claimed = {True: [], False: []}
    present = [question for question in questions if question["kind"] == "visible"]
    for question in questions:
        body = {"text": question["text"], "limit": 3, "synthesize": False, **request}
        results = call("/query", json.dumps(body).encode())["results"]
        best = max((hit["p_present"] for hit in results), default=0)
        if question["kind"] != "visible":
            claimed[question["near"]].append(best >= LIKELY)
            continue
        where = [question, *question.get("also", [])]
        spans = [(place["clip"], *span) for place in where for span in place["spans"]]
        right = [
            any(names[hit["video_id"]] == clip and hit["start"] < end and start < hit["end"] for clip, start, end in spans)
            for hit in results
        ]
        first += any(right[:1])
        among_three += any(right)
    print(
        f"  {title}: first {first} of {len(present)}, among the first three {among_three} of {len(present)}; "
        f"reported although absent: near {sum(claimed[True])} of {len(claimed[True])}, far {sum(claimed[False])} of {len(claimed[False])}"
    )


def pictures(videos):
    """Searches with frames at random times, and with random crops of them."""
    chance = random.Random(3)
    durations = {video["video_id"]: video["duration"] for video in call("/videos?limit=500")["videos"]}
    found = {"frame": 0, "crop": 0}
    for _ in range(PICTURES):
        video_id = chance.choice(videos)
        time = chance.uniform(0, durations[video_id])
        with urllib.request.urlopen(f"{sys.argv[1]}/videos/{video_id}/frames?t={time:.3f}") as response:
            picture = "data:image/jpeg;base64," + base64.b64encode(response.read()).decode()
        corner = [chance.uniform(0, 1 - CROP), chance.uniform(0, 1 - CROP)]
        for kind, region in (("frame", None), ("crop", [*corner, CROP, CROP])):
            body = {"image": picture, "limit": 1, "synthesize": False, **({"region": region} if region else {})}
            hits = call("/query", json.dumps(body).encode())["results"]
            found[kind] += any(hit["video_id"] == video_id and hit["start"] <= time <= hit["end"] for hit in hits)
    for kind, bar in (("frame", BAR_FRAME), ("crop", BAR_CROP)):
        print(f"  a {kind} finds its moment first: {found[kind] / PICTURES:.3f} of {PICTURES} (bar {bar})")


if __name__ == "__main__":
    main()
