"""What calls raise. An answer with an error status is an `ApiError` of the class of that status."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from .generated.models import Job


class ShotlogError(Exception):
    """Anything that this package raises."""


class Unreachable(ShotlogError):
    """No whole answer came: the service is not there, or the connection broke or took too long."""


class JobFailed(ShotlogError):
    """A job that was waited for failed or was cancelled; `job.error` says why."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.error)
        self.job = job


class WaitTimeout(ShotlogError, TimeoutError):
    """A job that was waited for goes on; `job` is what was last seen of it."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.job_id} has not ended: it is {job.status}, {job.stage}")
        self.job = job


class ApiError(ShotlogError):
    """The service answered with an error.

    `status` is that of HTTP, `kind` its name, `message` what was wrong and what would be right.
    `request_id` finds the request in the service's log.
    """

    def __init__(self, status: int, kind: str, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.request_id = request_id


class InvalidRequest(ApiError):
    """400 `bad_request`: something the install does not know, or lacks; 422 `unprocessable`: a value of
    the wrong type or out of its range."""


class Unauthorized(ApiError):
    """401: the token is missing or wrong."""


class Forbidden(ApiError):
    """403: sent to a name that is not the service's."""


class NotFound(ApiError):
    """404: no such video, chunk or job."""


class RequestTimeout(ApiError):
    """408: the body stopped arriving."""


class Conflict(ApiError):
    """409: what is stored is not what the request goes by."""


class TooLarge(ApiError):
    """413: the body is larger than the service takes."""


class ServerError(ApiError):
    """500: an unhandled failure, in the service's log under `request_id`."""


class _Later(ApiError):
    """`retry_after` is seconds until another try may succeed, where the answer tells."""

    retry_after: float | None = None


class RateLimited(_Later):
    """429, as a proxy answers: too many requests. `retry_after` is in seconds, where it is known."""


class Unavailable(_Later):
    """503: full, stopping or not ready, and 502 and 504 of a proxy. `retry_after` is in seconds, where it is
    known."""


_BY_STATUS: dict[int, tuple[type[ApiError], str]] = {
    400: (InvalidRequest, "bad_request"),
    401: (Unauthorized, "unauthorised"),
    403: (Forbidden, "forbidden"),
    404: (NotFound, "not_found"),
    408: (RequestTimeout, "timeout"),
    409: (Conflict, "conflict"),
    413: (TooLarge, "too_large"),
    422: (InvalidRequest, "unprocessable"),
    429: (RateLimited, "rate_limited"),
    500: (ServerError, "server_error"),
    502: (Unavailable, "unavailable"),
    503: (Unavailable, "unavailable"),
    504: (Unavailable, "unavailable"),
}


def retry_after(response: httpx.Response) -> float | None:
    """Seconds that the answer asks to wait; dates are passed over."""
    with contextlib.suppress(ValueError):
        return float(response.headers.get("Retry-After", ""))
    return None


def api_error(response: httpx.Response) -> ApiError:
    """The error that an answer, whose body has been read, tells of."""
    kind_of, kind = _BY_STATUS.get(response.status_code, (ApiError, "unexpected"))
    message = response.reason_phrase or f"the service answered {response.status_code}"
    with contextlib.suppress(ValueError, KeyError, TypeError):
        message = str(response.json()["detail"])
    error = kind_of(response.status_code, kind, message, response.headers.get("X-Request-Id"))
    if isinstance(error, _Later):
        error.retry_after = retry_after(response)
    return error
