"""Client for Shotlog, a service that analyzes videos and answers questions about them."""

from . import errors, models
from ._async import AsyncShotlog
from ._options import AskOptions, ChunkFilters, IngestOptions, SearchOptions, VideoFilters
from ._pictures import picture_url
from ._sync import Shotlog
from ._transcript import Utterance
from ._upload import UploadProgress
from .errors import (
    ApiError,
    Conflict,
    Forbidden,
    InvalidRequest,
    JobFailed,
    NotFound,
    RateLimited,
    RequestTimeout,
    ServerError,
    ShotlogError,
    TooLarge,
    Unauthorized,
    Unavailable,
    Unreachable,
    WaitTimeout,
)
from .generated.types import UNSET

__all__ = [
    "UNSET",
    "ApiError",
    "AskOptions",
    "AsyncShotlog",
    "ChunkFilters",
    "Conflict",
    "Forbidden",
    "IngestOptions",
    "InvalidRequest",
    "JobFailed",
    "NotFound",
    "RateLimited",
    "RequestTimeout",
    "SearchOptions",
    "ServerError",
    "Shotlog",
    "ShotlogError",
    "TooLarge",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
    "UploadProgress",
    "Utterance",
    "VideoFilters",
    "WaitTimeout",
    "errors",
    "models",
    "picture_url",
]
