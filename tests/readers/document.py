"""Reads an exported Word document independently of the service, and prints its paragraphs as JSON.

    document.py FILE

Each paragraph is `[style, text]`. The document is read with python-docx if that is installed, otherwise with the
standard library.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
import zipfile

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_archive(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None, "a checksum is wrong"
        for name in archive.namelist():
            ElementTree.fromstring(archive.read(name))
        root = ElementTree.fromstring(archive.read("word/document.xml"))
        known = ElementTree.fromstring(archive.read("word/styles.xml"))
    names = {}
    for style in known.iter(f"{WORD}style"):
        # Word shows the names of its built-in styles in upper case.
        name = style.find(f"{WORD}name").get(f"{WORD}val")
        names[style.get(f"{WORD}styleId")] = name[0].upper() + name[1:]
    paragraphs = []
    for paragraph in root.iter(f"{WORD}p"):
        style = paragraph.find(f"{WORD}pPr/{WORD}pStyle").get(f"{WORD}val")
        paragraphs.append([names[style], "".join(text.text or "" for text in paragraph.iter(f"{WORD}t"))])
    return paragraphs


def main(path):
    paragraphs = read_archive(path)
    try:
        import docx
    except ImportError as missing:
        print("skipped:", missing, file=sys.stderr)
        return paragraphs
    read = [[paragraph.style.name, paragraph.text] for paragraph in docx.Document(path).paragraphs]
    assert read == paragraphs, f"python-docx: {read} {paragraphs}"
    return read


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1]), ensure_ascii=False))
