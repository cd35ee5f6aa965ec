"""Uploads with progress."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO

UploadProgress = Callable[[int, int], object]
"""Called with the number of bytes sent and the file size."""


class ProgressFile:
    """A file that reports how much of it has been read."""

    def __init__(self, file: BinaryIO, progress: UploadProgress | None) -> None:
        self._file = file
        self._progress = progress
        self._size = os.fstat(file.fileno()).st_size
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._position += len(data)
        if data and self._progress is not None:
            self._progress(self._position, self._size)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = self._file.seek(offset, whence)
        return self._position

    def fileno(self) -> int:
        return self._file.fileno()
