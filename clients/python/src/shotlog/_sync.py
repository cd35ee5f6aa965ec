"""The synchronous client, generated from _async.py by scripts/generate_clients.sh."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Callable, Mapping, Sequence
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


class Shotlog:
    """A client for a Shotlog service.

    `url` defaults to `SHOTLOG_URL` or http://127.0.0.1:8080, `token` to `SHOTLOG_TOKEN`. `timeout` is the
    maximum time between bytes of the service, in seconds. Reads, searches and questions are retried up to
    `retries` times if the connection is refused or the status is 503; other requests are never retried.
    `transport` sends the requests, for example through a proxy.

    Methods raise the errors of `shotlog.errors`. Use the client in a `with` block, or close it.

    >>> from shotlog import Shotlog
    >>> def find_ferry():
    ...     with Shotlog() as client:
    ...         job = client.ingest_file("talk.mp4", analyzers="default_video,transcript")
    ...         done = client.wait(job.job_id)
    ...         found = client.search("ferry", video_ids=[done.result.video_id])
    ...         return found.results[0].start
    >>> find_ferry()
    0.0
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 120.0,
        retries: int = 3,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url = url or os.environ.get("SHOTLOG_URL") or "http://127.0.0.1:8080"
        token = token if token is not None else os.environ.get("SHOTLOG_TOKEN")
        self._http = httpx.Client(
            base_url=url,
            headers={"X-Core-Token": token} if token else {},
            timeout=timeout,
            transport=_Transport(transport or httpx.HTTPTransport(), retries),
        )
        self._api = Client(base_url=url, raise_on_unexpected_status=True).set_httpx_client(self._http)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    # The service

    def health(self) -> models.Health:
        """Health of the service; needs no token."""
        return _required(health.sync(client=self._api))

    def schema(self) -> models.Schema:
        """Analyzers, vector fields, filters and aggregators of the install."""
        return _required(schema.sync(client=self._api))

    # Ingests and jobs

    def ingest_file(
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
        self._http.get("/jobs", params={"limit": 1})
        path = Path(path)
        if "metadata" in options:
            # Form fields are text.
            options["metadata"] = cast(Any, json.dumps(options["metadata"]))
        with path.open("rb") as file:
            content = cast(BinaryIO, ProgressFile(file, progress))
            body = models.IngestFileBody(file=File(content, path.name, "application/octet-stream"), **options)
            # Not the generated function: it uses a fixed multipart boundary, which the file may contain.
            response = self._http.post(
                "/videos",
                files=body.to_multipart(),
                headers={} if idempotency_key is None else {"Idempotency-Key": idempotency_key},
            )
        return models.IngestAccepted.from_dict(response.json())

    def ingest_url(
        self, url: str, *, idempotency_key: str | None = None, **options: Unpack[IngestOptions]
    ) -> models.IngestAccepted:
        """Starts the ingest of a video from a URL, which the service downloads; returns the accepted job."""
        body = models.UrlIngestRequest(url=url, **options)
        key = UNSET if idempotency_key is None else idempotency_key
        return _required(ingest_url.sync(client=self._api, body=body, idempotency_key=key))

    def job(self, job_id: str) -> models.Job:
        """The current state of a job."""
        return _required(job.sync(job_id, client=self._api))

    def jobs(self, *, page_size: int = 100) -> Iterator[models.Job]:
        """All stored jobs, newest first."""
        offset = 0
        while True:
            page = _required(jobs.sync(client=self._api, limit=page_size, offset=offset))
            for each in page.jobs:
                yield each
            offset += len(page.jobs)
            if not page.jobs or offset >= page.total:
                return

    def wait(
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
            now = self.job(job_id)
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
            time.sleep(min(interval, remaining))

    def cancel_job(self, job_id: str) -> models.Job:
        """Cancels a job unless it has ended; returns its current state."""
        return _required(cancel_job.sync(job_id, client=self._api))

    # Videos

    def videos(self, *, page_size: int = 100, **filters: Unpack[VideoFilters]) -> Iterator[models.Video]:
        """All videos that match the filters."""
        cursor: str | None = None
        while True:
            page = _required(
                videos.sync(client=self._api, limit=page_size, cursor=cursor or UNSET, **filters)
            )
            for each in page.videos:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    def video(self, video_id: str) -> models.VideoDetail:
        """Details of a video."""
        return _required(video.sync(video_id, client=self._api))

    def annotate_video(self, video_id: str, **options: Unpack[VideoOptions]) -> models.VideoDetail:
        """Updates metadata, collection or recording time: None removes a value, absent ones are unchanged."""
        body = models.AnnotateRequest(**options)
        return _required(annotate_video.sync(video_id, client=self._api, body=body))

    def delete_video(self, video_id: str) -> models.Deleted:
        """Deletes a video and everything stored of it."""
        return _required(delete_video.sync(video_id, client=self._api))

    def collections(self, *, page_size: int = 100) -> Iterator[models.Collection]:
        """All collections, sorted by name."""
        cursor: str | None = None
        while True:
            page = _required(collections.sync(client=self._api, limit=page_size, cursor=cursor or UNSET))
            for each in page.collections:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    def rename_collection(self, collection: str, name: str) -> models.ChangeAccepted:
        """Renames a collection in a job; merges it into an existing one of the new name."""
        body = models.RenameRequest(name=name)
        return _required(rename_collection.sync(collection, client=self._api, body=body))

    def delete_collection(self, collection: str, *, videos: models.CollectionVideos) -> models.ChangeAccepted:
        """Deletes a collection in a job; `videos` says whether to `delete` or `keep` its videos."""
        return _required(delete_collection.sync(collection, client=self._api, videos=videos))

    def chunks(
        self, video_id: str, *, page_size: int = 100, **filters: Unpack[ChunkFilters]
    ) -> Iterator[models.Chunk]:
        """All chunks of a video that match the filters. The maximum page size is 500."""
        offset = 0
        while True:
            page = _required(
                chunks.sync(video_id, client=self._api, limit=page_size, offset=offset, **filters)
            )
            for each in page.chunks:
                yield each
            offset += len(page.chunks)
            if not page.chunks or offset >= page.total:
                return

    def chunk(self, video_id: str, chunk_id: int, *, verbose: bool = False) -> models.Chunk:
        """A chunk with the output of every analyzer."""
        return _required(chunk.sync(video_id, chunk_id, client=self._api, verbose=verbose))

    def aggregates(self, video_id: str) -> Mapping[str, Any]:
        """All video-level results, by aggregator id."""
        answer = aggregates.sync(video_id, client=self._api)
        return cast(models.AllAggregates, answer).aggregates.additional_properties

    def aggregate(self, video_id: str, aggregator: str) -> Mapping[str, Any]:
        """The video-level result of one aggregator."""
        answer = aggregates.sync(video_id, client=self._api, aggregator=aggregator)
        return cast(Mapping[str, Any], cast(models.OneAggregate, answer).result)

    def rerun_aggregates(
        self, video_id: str, *, aggregators: str | None = None, force: bool = True
    ) -> models.RerunAccepted:
        """Recomputes aggregates in a job: those of the comma-separated ids in `aggregators`, or all."""
        body = models.RerunForm(aggregators=UNSET if aggregators is None else aggregators)
        return _required(rerun_aggregates.sync(video_id, client=self._api, body=body, force=force))

    def entities(self, video_id: str, *, min_appearances: int = 1) -> list[models.Entity]:
        """People of a video who were seen in at least `min_appearances` chunks."""
        answer = entities.sync(video_id, client=self._api, min_appearances=min_appearances)
        return _required(answer).entities

    def transcript(self, video_id: str) -> list[Utterance]:
        """The utterances of a video in order of time, with speakers after diarization.

        Raises `InvalidRequest` if no analyzer has recognised its speech.
        """
        detail = self.video(video_id)
        analyzer = "diarization" if "diarization" in detail.analyzers else "transcript"
        transcript: list[Utterance] = []
        for each in self.chunks(video_id, analyzer=analyzer, page_size=500):
            transcript += utterances(each)
        return transcript

    def export(self, video_id: str, format: str) -> str:  # noqa: A002
        """The log of a video in a text format, such as srt, edl, fcpxml, otio, csv or json."""
        content = self.export_file(video_id, format)
        return content.decode()

    def export_file(self, video_id: str, format: str) -> bytes:  # noqa: A002
        """The bytes of a video's log in any file format, such as transcript.docx."""
        response = export.sync_detailed(video_id, client=self._api, format_=format)
        return response.content

    def frame(self, video_id: str, t: float, *, width: int = 640) -> bytes:
        """The frame at `t` seconds as a JPEG, at most `width` pixels wide."""
        return (frame.sync_detailed(video_id, client=self._api, t=t, width=width)).content

    def storyboard(self, video_id: str) -> models.Storyboard:
        """The layout of a video's storyboard sheet."""
        return _required(storyboard.sync(video_id, client=self._api))

    def storyboard_sheet(self, video_id: str) -> bytes:
        """A video's storyboard sheet as a JPEG."""
        return (storyboard_sheet.sync_detailed(video_id, client=self._api)).content

    # Search and answers

    def search(self, text: str | None = None, **options: Unpack[SearchOptions]) -> models.QueryResponse:
        """Searches for moments and, unless `synthesize` is false, answers from them. Without a text, finds
        moments similar to another one (`like`) or to a picture (`image`), or lists all that match the filters
        (`order`)."""
        fields = cast(dict[str, Any], {"text": text, **options})
        if "filters" in fields:
            fields["filters"] = models.QueryRequestFilters.from_dict(fields["filters"])
        return _required(query.sync(client=self._api, body=models.QueryRequest(**fields)))

    def evidence(self, question: str, **options: Unpack[EvidenceOptions]) -> models.EvidenceResponse:
        """Evidence for your own model to answer a question: the best moments within `max_tokens`."""
        body = models.EvidenceRequest(question=question, **options)
        return _required(evidence.sync(client=self._api, body=body))

    def moment(self, moment_id: str) -> models.Moment:
        """Everything stored of a moment, by its id from a hit or citation."""
        return _required(moment.sync(moment_id, client=self._api))

    def read_moments(self, moment_ids: list[str], **options: Unpack[ReadOptions]) -> models.ReadMoments:
        """Everything stored of several moments, as many as fit into `max_tokens`."""
        body = models.ReadRequest(moment_ids=moment_ids, **options)
        return _required(read_moments.sync(client=self._api, body=body))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> models.AskResponse:
        """Answers a question from the footage; each sentence cites the moments that support it."""
        return _required(ask.sync(client=self._api, body=models.AskRequest(question=question, **options)))

    def intervals(
        self, expression: Mapping[str, Any], *, video_ids: list[str] | None = None, page_size: int = 50
    ) -> Iterator[models.VideoIntervals]:
        """The spans of each video in which an expression holds. A video with many spans comes in parts.

        >>> from shotlog import Shotlog
        >>> quiet = {"all": [{"people": {"at_least": 1}}, {"not": {"speech": True}}]}
        >>> for video in Shotlog().intervals(quiet):
        ...     print(video.filename, len(video.spans))
        """
        body = models.IntervalRequest(expression=expression, video_ids=video_ids, limit=page_size)
        while True:
            page = _required(intervals.sync(client=self._api, body=body))
            for each in page.videos:
                yield each
            if not page.next_:
                return
            body.cursor = page.next_

    # Bins

    def bins(self, *, page_size: int = 100) -> Iterator[models.Bin]:
        """All bins, sorted by name."""
        cursor: str | None = None
        while True:
            page = _required(bins.sync(client=self._api, limit=page_size, cursor=cursor or UNSET))
            for each in page.bins:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    def create_bin(self, name: str, *, collection: str | None = None) -> models.Bin:
        """Creates an empty bin, a named, ordered list of selects."""
        body = models.BinRequest(name=name, collection=collection)
        return _required(create_bin.sync(client=self._api, body=body))

    def delete_bin(self, bin_id: str) -> models.BinDeleted:
        """Deletes a bin. Its videos are not changed."""
        return _required(delete_bin.sync(bin_id, client=self._api))

    def add_selects(
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
        return _required(add_selects.sync(bin_id, client=self._api, body=body))

    def selects(self, bin_id: str, *, page_size: int = 100) -> Iterator[models.Select]:
        """The selects of a bin, in order."""
        offset = 0
        while True:
            page = _required(selects.sync(bin_id, client=self._api, limit=page_size, offset=offset))
            for each in page.selects:
                yield each
            offset += len(page.selects)
            if not page.selects or offset >= page.total:
                return

    def export_bin(
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
        response = export_bin.sync_detailed(
            bin_id,
            client=self._api,
            format_=format,
            missing=missing,
            select_ids=UNSET if select_ids is None else ",".join(select_ids),
            min_rating=min_rating or UNSET,
            tag=tag or UNSET,
        )
        return response.content

    def evaluations(self) -> list[models.EvaluationSummary]:
        """Summaries of all evaluations, sorted by name."""
        return _required(evaluations.sync(client=self._api)).evaluations

    def put_evaluation(self, name: str, questions: list[models.JudgedQuestion]) -> models.Evaluation:
        """Creates an evaluation, or replaces its questions."""
        body = models.EvaluationRequest(questions=questions)
        return _required(put_evaluation.sync(name, client=self._api, body=body))

    def evaluation(self, name: str) -> models.Evaluation:
        """An evaluation with its questions."""
        return _required(evaluation.sync(name, client=self._api))

    def delete_evaluation(self, name: str) -> models.DeletedEvaluation:
        """Removes an evaluation and its runs."""
        return _required(delete_evaluation.sync(name, client=self._api))

    def run_evaluation(
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
        return _required(run_evaluation.sync(name, client=self._api, body=body))

    def evaluation_runs(self, name: str) -> list[models.EvaluationRunSummary]:
        """The runs of an evaluation, newest first."""
        return _required(evaluation_runs.sync(name, client=self._api)).runs

    def evaluation_run(self, name: str, run_id: str) -> models.EvaluationRun:
        """A run with the results of each question."""
        return _required(evaluation_run.sync(name, run_id, client=self._api))


class _Transport(httpx.BaseTransport):
    """Retries reads while the service is unreachable or busy, and raises error responses."""

    def __init__(self, inner: httpx.BaseTransport, retries: int) -> None:
        self._inner = inner
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        retries = self._retries if _is_read(request) else 0
        backoff = INITIAL_BACKOFF
        while True:
            wait: float | None
            try:
                response = self._inner.handle_request(request)
                response.read()
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
            time.sleep(wait)
            retries -= 1
            backoff *= 2

    def close(self) -> None:
        self._inner.close()


def _is_read(request: httpx.Request) -> bool:
    return request.method == "GET" or request.url.path.endswith(
        ("/query", "/ask", "/evidence", "/intervals", "/moments/read")
    )


def _required(answer: T | None) -> T:
    """The response of a generated function, which returns one for every documented status below 400."""
    assert answer is not None
    return answer
