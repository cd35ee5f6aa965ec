"""Reads an exported REFI-QDA project (`.qdpx`) independently of the service, and prints its sources as JSON.

    qda.py FILE

Each source is `[name, path, lines, selections]`: a line of the transcript is `[milliseconds, text]`, and a selection is
`[begin, end, name, codes]` with times in milliseconds. Checks the order of elements, the ids and the references that
the schema of Project Exchange 1.0 requires.
"""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

NAMESPACE = "{urn:QDA-XML:project:1.0}"
GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
# The order of the elements in those that contain several kinds.
ORDER = {
    "Project": ["Users", "CodeBook", "Sources"],
    "VideoSource": ["Transcript", "VideoSelection"],
    "AudioSource": ["Transcript", "AudioSelection"],
    "VideoSelection": ["Description", "Coding"],
    "AudioSelection": ["Description", "Coding"],
}


def tag(element):
    assert element.tag.startswith(NAMESPACE), element.tag
    return element.tag[len(NAMESPACE) :]


def check(root):
    ids = [element.get("guid") for element in root.iter() if element.get("guid")]
    assert len(ids) == len(set(ids)), "an id is used twice"
    assert all(GUID.fullmatch(id) for id in ids)
    codes = {code.get("guid") for code in root.iter(f"{NAMESPACE}Code")}
    for element in root.iter():
        if order := ORDER.get(tag(element)):
            places = [order.index(tag(child)) for child in element]
            assert places == sorted(places), f"{tag(element)}: {places}"
        if tag(element) in ("CodeRef",):
            assert element.get("targetGUID") in codes
        if tag(element) in ("Codes", "Sources", "Users"):
            assert len(element), f"{tag(element)} is empty"


def transcript_lines(archive, element):
    path = element.get("plainTextPath")
    text = archive.read("sources/" + path.removeprefix("internal://")).decode("utf-8")
    points = [(int(p.get("timeStamp")), int(p.get("position"))) for p in element.findall(f"{NAMESPACE}SyncPoint")]
    assert points[-1][1] == len(text), "the last point is the end of the text"
    return [[time, text[at:end].strip("\n")] for (time, at), (_, end) in zip(points, points[1:])]


def main(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, "a checksum is wrong"
        root = ElementTree.fromstring(archive.read("project.qde"))
        assert tag(root) == "Project"
        check(root)
        names = {code.get("guid"): code.get("name") for code in root.iter(f"{NAMESPACE}Code")}
        sources = []
        for source in root.find(f"{NAMESPACE}Sources"):
            transcripts = source.findall(f"{NAMESPACE}Transcript")
            lines = [line for each in transcripts for line in transcript_lines(archive, each)]
            selections = []
            for part in source:
                if tag(part).endswith("Selection"):
                    codes = [names[ref.get("targetGUID")] for ref in part.iter(f"{NAMESPACE}CodeRef")]
                    selections.append([int(part.get("begin")), int(part.get("end")), part.get("name"), codes])
            sources.append([source.get("name"), source.get("path"), lines, selections])
    return sources


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1]), ensure_ascii=False))
