"""Reads exported captions or an exported text independently of the service, and prints its text as JSON.

    captions.py FILE

Captions (SRT, WebVTT) are read by the ffmpeg program, and printed as `[start, end, text]` with times in seconds.
Markdown is read with markdown-it-py, and printed as the text of its paragraphs.
"""

import json
import re
import subprocess
import sys


def seconds(text):
    hours, minutes, rest = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest.replace(",", "."))


def read_captions(path):
    command = ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-f", "srt", "-"]
    text = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    captions = []
    for block in re.split(r"\n\n(?=\d+\n\d\d:)", text.replace("\r", "").strip()):
        _, times, *lines = block.split("\n")
        start, end = times.split(" --> ")
        # FFmpeg escapes braces.
        plain = " ".join(lines).replace("\\{", "{").replace("\\}", "}")
        captions.append([seconds(start), seconds(end), plain])
    return captions


def read_markdown(path):
    from markdown_it import MarkdownIt

    with open(path, encoding="utf-8") as file:
        tokens = MarkdownIt().parse(file.read())
    inline = [token for token in tokens if token.type == "inline"]
    return ["".join(child.content for child in token.children) for token in inline]


if __name__ == "__main__":
    read = read_markdown if sys.argv[1].endswith(".md") else read_captions
    try:
        print(json.dumps(read(sys.argv[1]), ensure_ascii=False))
    except ImportError as missing:
        print("skipped:", missing)
