"""Errors of this package. Each error status has its subclass of `ApiError`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from .generated.models import Job


class ShotlogError(Exception):
    """Base class of all errors of this package.

    >>> from shotlog import Shotlog, ShotlogError
    >>> try:
    ...     answer = Shotlog().ask("When does the ferry leave?").answer
    ... except ShotlogError as error:
    ...     print("no answer:", error)
    """


class Unreachable(ShotlogError):
    """There was no complete response: the service is down, or the connection broke or timed out.

    >>> from shotlog import Shotlog, Unreachable
    >>> try:
    ...     Shotlog("http://127.0.0.1:9", retries=0).health()
    ... except Unreachable:
    ...     print("is the service running?")
    is the service running?
    """


class JobFailed(ShotlogError):
    """The job failed or was cancelled; `job.error` has the reason.

    >>> from shotlog import JobFailed, Shotlog
    >>> client = Shotlog()
    >>> job = client.ingest_url("http://127.0.0.1:9/talk.mp4")
    >>> try:
    ...     client.wait(job.job_id)
    ... except JobFailed as error:
    ...     print(error.job.stage, error.job.status)
    fetching failed
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job.error)
        self.job = job


class WaitTimeout(ShotlogError, TimeoutError):
    """The job did not end in time and continues; `job` is its last known state.

    >>> from shotlog import Shotlog, WaitTimeout
    >>> client = Shotlog()
    >>> job = client.ingest_file("harbour.mp4")
    >>> try:
    ...     job = client.wait(job.job_id, timeout=60)
    ... except WaitTimeout as error:
    ...     job = client.cancel_job(error.job.job_id)
    """

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.job_id} has not ended: it is {job.status}, {job.stage}")
        self.job = job


class ApiError(ShotlogError):
    """The service responded with an error.

    `status` is the HTTP status, `kind` its name, `message` says what is wrong and what would be valid.
    `request_id` identifies the request in the service's log.

    >>> from shotlog import ApiError, Shotlog
    >>> try:
    ...     Shotlog().video("0123456789abcdef")
    ... except ApiError as error:
    ...     print(error.status, error.kind)
    404 not_found
    """

    def __init__(self, status: int, kind: str, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.request_id = request_id


class InvalidRequest(ApiError):
    """400 `bad_request`: the request is incomplete or names something that does not exist; 422
    `unprocessable`: a value has the wrong type or is out of range.

    >>> from shotlog import InvalidRequest, Shotlog
    >>> try:
    ...     Shotlog().search("ferry", filters={"min_poeple": 1})
    ... except InvalidRequest as error:
    ...     print("min_people" in error.message)
    True
    """


class Unauthorized(ApiError):
    """401: the token is missing or wrong.

    >>> from shotlog import Shotlog, Unauthorized
    >>> try:
    ...     Shotlog(token="wrong").schema()
    ... except Unauthorized as error:
    ...     print(error.status)
    401
    """


class Forbidden(ApiError):
    """403: the token lacks the permission, or the host name is not configured.

    >>> from shotlog import Forbidden, Shotlog
    >>> client = Shotlog()
    >>> video = next(client.videos())
    >>> try:
    ...     video = client.annotate_video(video.video_id, collection="harbour")
    ... except Forbidden:
    ...     print("this token cannot write")
    """


class NotFound(ApiError):
    """404: the resource does not exist.

    >>> from shotlog import NotFound, Shotlog
    >>> try:
    ...     Shotlog().delete_video("0123456789abcdef")
    ... except NotFound:
    ...     print("nothing to delete")
    nothing to delete
    """


class RequestTimeout(ApiError):
    """408: the request body did not arrive in time.

    >>> from shotlog import RequestTimeout, Shotlog
    >>> client = Shotlog()
    >>> try:
    ...     job = client.ingest_file("harbour.mp4")
    ... except RequestTimeout:
    ...     print("the upload stalled")
    """


class Conflict(ApiError):
    """409: the request conflicts with the stored state.

    >>> from shotlog import Conflict, Shotlog
    >>> client = Shotlog()
    >>> video = next(client.videos())
    >>> try:
    ...     job = client.rerun_aggregates(video.video_id)
    ... except Conflict as error:
    ...     print(error.message)
    """


class TooLarge(ApiError):
    """413: the request body is too large.

    >>> from shotlog import TooLarge, Shotlog
    >>> client = Shotlog()
    >>> try:
    ...     job = client.ingest_file("harbour.mp4")
    ... except TooLarge as error:
    ...     print(error.message)
    """


class ServerError(ApiError):
    """500: internal error; the service's log has the details under `request_id`.

    >>> from shotlog import ServerError, Shotlog
    >>> client = Shotlog()
    >>> try:
    ...     answer = client.ask("When does the ferry leave?").answer
    ... except ServerError as error:
    ...     print("see the log of the service for", error.request_id)
    """


class _Retryable(ApiError):
    """`retry_after` is the recommended delay before a retry in seconds, if the response has one."""

    retry_after: float | None = None


class RateLimited(_Retryable):
    """429 of a proxy: too many requests. `retry_after` is in seconds, if known.

    >>> import time
    >>> from shotlog import RateLimited, Shotlog
    >>> client = Shotlog()
    >>> try:
    ...     answer = client.ask("When does the ferry leave?").answer
    ... except RateLimited as error:
    ...     time.sleep(error.retry_after or 60)
    """


class Unavailable(_Retryable):
    """503: overloaded, stopping or not ready; also 502 and 504 of a proxy. `retry_after` is in seconds, if
    known.

    >>> import time
    >>> from shotlog import Unavailable, Shotlog
    >>> client = Shotlog()
    >>> try:
    ...     job = client.ingest_file("harbour.mp4")
    ... except Unavailable as error:
    ...     time.sleep(error.retry_after or 1)
    """


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
    """The value of `Retry-After` in seconds; dates are ignored."""
    with contextlib.suppress(ValueError):
        return float(response.headers.get("Retry-After", ""))
    return None


def api_error(response: httpx.Response) -> ApiError:
    """The error of a response whose body has been read."""
    error_class, kind = _BY_STATUS.get(response.status_code, (ApiError, "unexpected"))
    message = response.reason_phrase or f"the service responded with {response.status_code}"
    with contextlib.suppress(ValueError, KeyError, TypeError):
        message = str(response.json()["detail"])
    error = error_class(response.status_code, kind, message, response.headers.get("X-Request-Id"))
    if isinstance(error, _Retryable):
        error.retry_after = retry_after(response)
    return error
