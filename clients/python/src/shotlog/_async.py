"""The asynchronous client. scripts/generate_clients.sh generates _sync.py from this file."""

from __future__ import annotations

import asyncio
import json
import math
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import httpx
from typing_extensions import Self, Unpack

from ._options import (
    AskOptions,
    ChunkFilters,
    EvidenceOptions,
    IngestOptions,
    ReadOptions,
    SearchOptions,
    VideoFilters,
    VideoOptions,
)
from ._transcript import Utterance, utterances
from ._upload import ProgressFile, UploadProgress
from .errors import JobFailed, Unreachable, WaitTimeout, api_error, retry_after
from .generated import Client, models
from .generated.api.default import (
    add_selects,
    aggregates,
    annotate_video,
    ask,
    bins,
    cancel_job,
    chunk,
    chunks,
    collections,
    create_bin,
    delete_bin,
    delete_collection,
    delete_evaluation,
    delete_video,
    entities,
    evaluation,
    evaluation_run,
    evaluation_runs,
    evaluations,
    evidence,
    export,
    export_bin,
    frame,
    health,
    ingest_url,
    intervals,
    job,
    jobs,
    moment,
    put_evaluation,
    query,
    read_moments,
    rename_collection,
    rerun_aggregates,
    run_evaluation,
    schema,
    selects,
    storyboard,
    storyboard_sheet,
    video,
    videos,
)
from .generated.types import UNSET, File

T = TypeVar("T")

INITIAL_BACKOFF = 0.5
MAX_BACKOFF = 10.0


class AsyncShotlog:
    """A client for a Shotlog service.

    `url` defaults to `SHOTLOG_URL` or http://127.0.0.1:8080, `token` to `SHOTLOG_TOKEN`. `timeout` is the
    maximum time between bytes of the service, in seconds. Reads, searches and questions are retried up to
    `retries` times if the connection is refused or the status is 503; other requests are never retried.
    `transport` sends the requests, for example through a proxy.

    Methods raise the errors of `shotlog.errors`. Use the client in a `with` block, or close it.

    >>> import asyncio
    >>> from shotlog import AsyncShotlog
    >>> async def find_ferry():
    ...     async with AsyncShotlog() as client:
    ...         job = await client.ingest_file("talk.mp4", analyzers="default_video,transcript")
    ...         done = await client.wait(job.job_id)
    ...         found = await client.search("ferry", video_ids=[done.result.video_id])
    ...         return found.results[0].start
    >>> asyncio.run(find_ferry())
    0.0
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 120.0,
        retries: int = 3,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        url = url or os.environ.get("SHOTLOG_URL") or "http://127.0.0.1:8080"
        token = token if token is not None else os.environ.get("SHOTLOG_TOKEN")
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"X-Core-Token": token} if token else {},
            timeout=timeout,
            transport=_Transport(transport or httpx.AsyncHTTPTransport(), retries),
        )
        self._api = Client(base_url=url, raise_on_unexpected_status=True).set_async_httpx_client(self._http)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    # The service

    async def health(self) -> models.Health:
        """Health of the service; needs no token."""
        return _required(await health.asyncio(client=self._api))

    async def schema(self) -> models.Schema:
        """Analyzers, vector fields, filters and aggregators of the install."""
        return _required(await schema.asyncio(client=self._api))

    # Ingests and jobs

    async def ingest_file(
        self,
        path: str | os.PathLike[str],
        *,
        progress: UploadProgress | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[IngestOptions],
    ) -> models.IngestAccepted:
        """Streams a video file to the service and starts its ingest; returns the accepted job.

        A service that rejects the upload may close the connection before its response is read, which raises
        `Unreachable`. A repeated request with the same `idempotency_key` returns the job of the first one.
        """
        # Checks the token before the file is sent.
        await self._http.get("/jobs", params={"limit": 1})
        path = Path(path)
        if "metadata" in options:
            # Form fields are text.
            options["metadata"] = cast(Any, json.dumps(options["metadata"]))
        with path.open("rb") as file:
            content = cast(BinaryIO, ProgressFile(file, progress))
            body = models.IngestFileBody(file=File(content, path.name, "application/octet-stream"), **options)
            # Not the generated function: it uses a fixed multipart boundary, which the file may contain.
            response = await self._http.post(
                "/videos",
                files=body.to_multipart(),
                headers={} if idempotency_key is None else {"Idempotency-Key": idempotency_key},
            )
        return models.IngestAccepted.from_dict(response.json())

    async def ingest_url(
        self, url: str, *, idempotency_key: str | None = None, **options: Unpack[IngestOptions]
    ) -> models.IngestAccepted:
        """Starts the ingest of a video from a URL, which the service downloads; returns the accepted job."""
        body = models.UrlIngestRequest(url=url, **options)
        key = UNSET if idempotency_key is None else idempotency_key
        return _required(await ingest_url.asyncio(client=self._api, body=body, idempotency_key=key))

    async def job(self, job_id: str) -> models.Job:
        """The current state of a job."""
        return _required(await job.asyncio(job_id, client=self._api))

    async def jobs(self, *, page_size: int = 100) -> AsyncIterator[models.Job]:
        """All stored jobs, newest first."""
        offset = 0
        while True:
            page = _required(await jobs.asyncio(client=self._api, limit=page_size, offset=offset))
            for each in page.jobs:
                yield each
            offset += len(page.jobs)
            if not page.jobs or offset >= page.total:
                return

    async def wait(
        self,
        job_id: str,
        *,
        progress: Callable[[models.Job], object] | None = None,
        timeout: float | None = None,
        interval: float = 1.0,
    ) -> models.Job:
        """Waits until a job is done and returns it, polling every `interval` seconds.

        `progress` is called with the job after each change. Raises `JobFailed`, and `WaitTimeout` if the job
        does not end within `timeout` seconds. Raises `NotFound` after a restart of a service that keeps jobs
        in memory; the video exists if the ingest had finished.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        last = None
        while True:
            now = await self.job(job_id)
            if progress is not None and now != last:
                progress(now)
            last = now
            if now.status == "done":
                return now
            if now.status == "failed":
                raise JobFailed(now)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise WaitTimeout(now)
            await asyncio.sleep(min(interval, remaining))

    async def cancel_job(self, job_id: str) -> models.Job:
        """Cancels a job unless it has ended; returns its current state."""
        return _required(await cancel_job.asyncio(job_id, client=self._api))

    # Videos

    async def videos(
        self, *, page_size: int = 100, **filters: Unpack[VideoFilters]
    ) -> AsyncIterator[models.Video]:
        """All videos that match the filters."""
        cursor: str | None = None
        while True:
            page = _required(
                await videos.asyncio(client=self._api, limit=page_size, cursor=cursor or UNSET, **filters)
            )
            for each in page.videos:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    async def video(self, video_id: str) -> models.VideoDetail:
        """Details of a video."""
        return _required(await video.asyncio(video_id, client=self._api))

    async def annotate_video(self, video_id: str, **options: Unpack[VideoOptions]) -> models.VideoDetail:
        """Updates metadata, collection or recording time: None removes a value, absent ones are unchanged."""
        body = models.AnnotateRequest(**options)
        return _required(await annotate_video.asyncio(video_id, client=self._api, body=body))

    async def delete_video(self, video_id: str) -> models.Deleted:
        """Deletes a video and everything stored of it."""
        return _required(await delete_video.asyncio(video_id, client=self._api))

    async def collections(self, *, page_size: int = 100) -> AsyncIterator[models.Collection]:
        """All collections, sorted by name."""
        cursor: str | None = None
        while True:
            page = _required(
                await collections.asyncio(client=self._api, limit=page_size, cursor=cursor or UNSET)
            )
            for each in page.collections:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    async def rename_collection(self, collection: str, name: str) -> models.ChangeAccepted:
        """Renames a collection in a job; merges it into an existing one of the new name."""
        body = models.RenameRequest(name=name)
        return _required(await rename_collection.asyncio(collection, client=self._api, body=body))

    async def delete_collection(
        self, collection: str, *, videos: models.CollectionVideos
    ) -> models.ChangeAccepted:
        """Deletes a collection in a job; `videos` says whether to `delete` or `keep` its videos."""
        return _required(await delete_collection.asyncio(collection, client=self._api, videos=videos))

    async def chunks(
        self, video_id: str, *, page_size: int = 100, **filters: Unpack[ChunkFilters]
    ) -> AsyncIterator[models.Chunk]:
        """All chunks of a video that match the filters. The maximum page size is 500."""
        offset = 0
        while True:
            page = _required(
                await chunks.asyncio(video_id, client=self._api, limit=page_size, offset=offset, **filters)
            )
            for each in page.chunks:
                yield each
            offset += len(page.chunks)
            if not page.chunks or offset >= page.total:
                return

    async def chunk(self, video_id: str, chunk_id: int, *, verbose: bool = False) -> models.Chunk:
        """A chunk with the output of every analyzer."""
        return _required(await chunk.asyncio(video_id, chunk_id, client=self._api, verbose=verbose))

    async def aggregates(self, video_id: str) -> Mapping[str, Any]:
        """All video-level results, by aggregator id."""
        answer = await aggregates.asyncio(video_id, client=self._api)
        return cast(models.AllAggregates, answer).aggregates.additional_properties

    async def aggregate(self, video_id: str, aggregator: str) -> Mapping[str, Any]:
        """The video-level result of one aggregator."""
        answer = await aggregates.asyncio(video_id, client=self._api, aggregator=aggregator)
        return cast(Mapping[str, Any], cast(models.OneAggregate, answer).result)

    async def rerun_aggregates(
        self, video_id: str, *, aggregators: str | None = None, force: bool = True
    ) -> models.RerunAccepted:
        """Recomputes aggregates in a job: those of the comma-separated ids in `aggregators`, or all."""
        body = models.RerunForm(aggregators=UNSET if aggregators is None else aggregators)
        return _required(await rerun_aggregates.asyncio(video_id, client=self._api, body=body, force=force))

    async def entities(self, video_id: str, *, min_appearances: int = 1) -> list[models.Entity]:
        """People of a video who were seen in at least `min_appearances` chunks."""
        answer = await entities.asyncio(video_id, client=self._api, min_appearances=min_appearances)
        return _required(answer).entities

    async def transcript(self, video_id: str) -> list[Utterance]:
        """The utterances of a video in order of time, with speakers after diarization.

        Raises `InvalidRequest` if no analyzer has recognised its speech.
        """
        detail = await self.video(video_id)
        analyzer = "diarization" if "diarization" in detail.analyzers else "transcript"
        transcript: list[Utterance] = []
        async for each in self.chunks(video_id, analyzer=analyzer, page_size=500):
            transcript += utterances(each)
        return transcript

    async def export(self, video_id: str, format: str) -> str:  # noqa: A002
        """The log of a video in a text format, such as srt, edl, fcpxml, otio, csv or json."""
        content = await self.export_file(video_id, format)
        return content.decode()

    async def export_file(self, video_id: str, format: str) -> bytes:  # noqa: A002
        """The bytes of a video's log in any file format, such as transcript.docx."""
        response = await export.asyncio_detailed(video_id, client=self._api, format_=format)
        return response.content

    async def frame(self, video_id: str, t: float, *, width: int = 640) -> bytes:
        """The frame at `t` seconds as a JPEG, at most `width` pixels wide."""
        return (await frame.asyncio_detailed(video_id, client=self._api, t=t, width=width)).content

    async def storyboard(self, video_id: str) -> models.Storyboard:
        """The layout of a video's storyboard sheet."""
        return _required(await storyboard.asyncio(video_id, client=self._api))

    async def storyboard_sheet(self, video_id: str) -> bytes:
        """A video's storyboard sheet as a JPEG."""
        return (await storyboard_sheet.asyncio_detailed(video_id, client=self._api)).content

    # Search and answers

    async def search(self, text: str | None = None, **options: Unpack[SearchOptions]) -> models.QueryResponse:
        """Searches for moments and, unless `synthesize` is false, answers from them. Without a text, finds
        moments similar to another one (`like`) or to a picture (`image`), or lists all that match the filters
        (`order`)."""
        fields = cast(dict[str, Any], {"text": text, **options})
        if "filters" in fields:
            fields["filters"] = models.QueryRequestFilters.from_dict(fields["filters"])
        return _required(await query.asyncio(client=self._api, body=models.QueryRequest(**fields)))

    async def evidence(self, question: str, **options: Unpack[EvidenceOptions]) -> models.EvidenceResponse:
        """Evidence for your own model to answer a question: the best moments within `max_tokens`."""
        body = models.EvidenceRequest(question=question, **options)
        return _required(await evidence.asyncio(client=self._api, body=body))

    async def moment(self, moment_id: str) -> models.Moment:
        """Everything stored of a moment, by its id from a hit or citation."""
        return _required(await moment.asyncio(moment_id, client=self._api))

    async def read_moments(self, moment_ids: list[str], **options: Unpack[ReadOptions]) -> models.ReadMoments:
        """Everything stored of several moments, as many as fit into `max_tokens`."""
        body = models.ReadRequest(moment_ids=moment_ids, **options)
        return _required(await read_moments.asyncio(client=self._api, body=body))

    async def ask(self, question: str, **options: Unpack[AskOptions]) -> models.AskResponse:
        """Answers a question from the footage; each sentence cites the moments that support it."""
        return _required(
            await ask.asyncio(client=self._api, body=models.AskRequest(question=question, **options))
        )

    async def intervals(
        self, expression: Mapping[str, Any], *, video_ids: list[str] | None = None, page_size: int = 50
    ) -> AsyncIterator[models.VideoIntervals]:
        """The spans of each video in which an expression holds. A video with many spans comes in parts.

        >>> from shotlog import Shotlog
        >>> quiet = {"all": [{"people": {"at_least": 1}}, {"not": {"speech": True}}]}
        >>> for video in Shotlog().intervals(quiet):
        ...     print(video.filename, len(video.spans))
        """
        body = models.IntervalRequest(expression=expression, video_ids=video_ids, limit=page_size)
        while True:
            page = _required(await intervals.asyncio(client=self._api, body=body))
            for each in page.videos:
                yield each
            if not page.next_:
                return
            body.cursor = page.next_

    # Bins

    async def bins(self, *, page_size: int = 100) -> AsyncIterator[models.Bin]:
        """All bins, sorted by name."""
        cursor: str | None = None
        while True:
            page = _required(await bins.asyncio(client=self._api, limit=page_size, cursor=cursor or UNSET))
            for each in page.bins:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    async def create_bin(self, name: str, *, collection: str | None = None) -> models.Bin:
        """Creates an empty bin, a named, ordered list of selects."""
        body = models.BinRequest(name=name, collection=collection)
        return _required(await create_bin.asyncio(client=self._api, body=body))

    async def delete_bin(self, bin_id: str) -> models.BinDeleted:
        """Deletes a bin. Its videos are not changed."""
        return _required(await delete_bin.asyncio(bin_id, client=self._api))

    async def add_selects(
        self, bin_id: str, new: Sequence[Mapping[str, Any]], *, position: int | None = None
    ) -> models.BinChanged:
        """Adds selects at a position, counted from 0, by default at the end. Each has the fields of
        `SelectRequest`.

        >>> from shotlog import Shotlog
        >>> client = Shotlog()
        >>> quotes = client.create_bin("Quotes")
        >>> hits = client.search("the ferry", synthesize=False).results
        >>> found = [{"moment_id": hit.moment_id, "tags": ["ferry"]} for hit in hits]
        >>> client.add_selects(quotes.bin_id, found).bin_.name
        'Quotes'
        """
        requests = [models.SelectRequest.from_dict(each) for each in new]
        body = models.AddSelectsRequest(selects=requests, position=position)
        return _required(await add_selects.asyncio(bin_id, client=self._api, body=body))

    async def selects(self, bin_id: str, *, page_size: int = 100) -> AsyncIterator[models.Select]:
        """The selects of a bin, in order."""
        offset = 0
        while True:
            page = _required(await selects.asyncio(bin_id, client=self._api, limit=page_size, offset=offset))
            for each in page.selects:
                yield each
            offset += len(page.selects)
            if not page.selects or offset >= page.total:
                return

    async def export_bin(
        self,
        bin_id: str,
        format: str,  # noqa: A002
        *,
        missing: models.MissingVideos = "refuse",
        select_ids: Sequence[str] | None = None,
        min_rating: int | None = None,
        tag: str | None = None,
    ) -> bytes:
        """The selects of a bin as a file, such as fcpxml, edl or quotes.docx.

        Only those with these ids, a rating of at least ``min_rating`` and the tag are exported.
        """
        response = await export_bin.asyncio_detailed(
            bin_id,
            client=self._api,
            format_=format,
            missing=missing,
            select_ids=UNSET if select_ids is None else ",".join(select_ids),
            min_rating=min_rating or UNSET,
            tag=tag or UNSET,
        )
        return response.content

    async def evaluations(self) -> list[models.EvaluationSummary]:
        """Summaries of all evaluations, sorted by name."""
        return _required(await evaluations.asyncio(client=self._api)).evaluations

    async def put_evaluation(self, name: str, questions: list[models.JudgedQuestion]) -> models.Evaluation:
        """Creates an evaluation, or replaces its questions."""
        body = models.EvaluationRequest(questions=questions)
        return _required(await put_evaluation.asyncio(name, client=self._api, body=body))

    async def evaluation(self, name: str) -> models.Evaluation:
        """An evaluation with its questions."""
        return _required(await evaluation.asyncio(name, client=self._api))

    async def delete_evaluation(self, name: str) -> models.DeletedEvaluation:
        """Removes an evaluation and its runs."""
        return _required(await delete_evaluation.asyncio(name, client=self._api))

    async def run_evaluation(
        self,
        name: str,
        configurations: list[models.SearchConfiguration] | None = None,
        *,
        max_model_calls: int | None = None,
    ) -> models.EvaluationRunAccepted:
        """Runs the questions with each configuration; the run exists once its job is done."""
        body = models.EvaluationRunRequest(max_model_calls=max_model_calls)
        if configurations is not None:
            body.configurations = configurations
        return _required(await run_evaluation.asyncio(name, client=self._api, body=body))

    async def evaluation_runs(self, name: str) -> list[models.EvaluationRunSummary]:
        """The runs of an evaluation, newest first."""
        return _required(await evaluation_runs.asyncio(name, client=self._api)).runs

    async def evaluation_run(self, name: str, run_id: str) -> models.EvaluationRun:
        """A run with the results of each question."""
        return _required(await evaluation_run.asyncio(name, run_id, client=self._api))


class _Transport(httpx.AsyncBaseTransport):
    """Retries reads while the service is unreachable or busy, and raises error responses."""

    def __init__(self, inner: httpx.AsyncBaseTransport, retries: int) -> None:
        self._inner = inner
        self._retries = retries

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        retries = self._retries if _is_read(request) else 0
        backoff = INITIAL_BACKOFF
        while True:
            wait: float | None
            try:
                response = await self._inner.handle_async_request(request)
                await response.aread()
                if response.status_code < 400:
                    return response
                failure: Exception = api_error(response)
                wait = max(backoff, retry_after(response) or 0) if response.status_code == 503 else None
            except httpx.TransportError as error:
                failure = Unreachable(str(error) or type(error).__name__)
                failure.__cause__ = error
                wait = backoff if isinstance(error, httpx.ConnectError) else None
            if not retries or wait is None or wait > MAX_BACKOFF:
                raise failure
            await asyncio.sleep(wait)
            retries -= 1
            backoff *= 2

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_read(request: httpx.Request) -> bool:
    return request.method == "GET" or request.url.path.endswith(
        ("/query", "/ask", "/evidence", "/intervals", "/moments/read")
    )


def _required(answer: T | None) -> T:
    """The response of a generated function, which returns one for every documented status below 400."""
    assert answer is not None
    return answer
