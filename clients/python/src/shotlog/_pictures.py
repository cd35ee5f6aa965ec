"""Pictures to search for."""

from __future__ import annotations

import base64
import os
from pathlib import Path


def picture_url(picture: str | os.PathLike[str] | bytes) -> str:
    """The data URL of a picture, for the option `image` of a search.

    `picture` is a path or the content of a JPEG, PNG or WebP file. Raises `ValueError` for other content.

    >>> from shotlog import picture_url
    >>> picture_url(bytes([0xFF, 0xD8, 0xFF]))
    'data:image/jpeg;base64,/9j/'

    A search for the left half of a picture, in a service that compares pictures (`vector_fields` of `schema`
    contains `visual`)::

        hits = client.search(image=picture_url("harbour.jpg"), region=[0, 0, 0.5, 1]).results
    """
    content = picture if isinstance(picture, bytes) else Path(picture).read_bytes()
    return f"data:image/{_format(content)};base64,{base64.b64encode(content).decode('ascii')}"


def _format(content: bytes) -> str:
    if content.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    raise ValueError("the picture must be the path or the content of a JPEG, PNG or WebP file")
