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

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if data and self._progress is not None:
            self._progress(self._file.tell(), self._size)
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def fileno(self) -> int:
        return self._file.fileno()
