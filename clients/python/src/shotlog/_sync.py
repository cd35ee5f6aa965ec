"""The client that waits for answers; made from _async.py by scripts/generate_clients.sh."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Callable, Mapping
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
    SaidOptions,
    SearchOptions,
    VideoFilters,
)
from ._transcript import Utterance, utterances
from ._upload import CountedFile, UploadProgress
from .errors import JobFailed, Unreachable, WaitTimeout, api_error, retry_after
from .generated import Client, models
from .generated.api.default import (
    aggregates,
    annotate_video,
    ask,
    cancel_job,
    chunk,
    chunks,
    collections,
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
    frame,
    health,
    ingest_url,
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
    storyboard,
    storyboard_sheet,
    video,
    videos,
)
from .generated.types import UNSET, File

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0


class Shotlog:
    """A Shotlog service.

    `url` and `token` default to `SHOTLOG_URL`, or http://127.0.0.1:8080, and `SHOTLOG_TOKEN`. `timeout` is
    how long the service may be silent, in seconds. Reads, searches and questions are sent again, at most
    `retries` times, where the connection is refused or the answer is 503; nothing else is. `transport`
    carries the requests, as through a proxy.

    Calls raise what `shotlog.errors` has. Use it in a `with` block, or close it.
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
        """What works and what does not; needs no token."""
        return _some(health.sync(client=self._api))

    def schema(self) -> models.Schema:
        """Analyzers, vector fields, filters and aggregators of the install."""
        return _some(schema.sync(client=self._api))

    # Ingests and jobs

    def ingest_file(
        self,
        path: str | os.PathLike[str],
        *,
        progress: UploadProgress | None = None,
        idempotency_key: str | None = None,
        **options: Unpack[IngestOptions],
    ) -> models.IngestAccepted:
        """Uploads a video, in parts as they are read; the job that is answered goes on with it.

        A service that refuses while the file is on its way may hang up before that is read: `Unreachable`. A
        request that is sent again with its `idempotency_key` is answered with the job it started.
        """
        # A wrong token is told before anything is sent.
        self._http.get("/jobs", params={"limit": 1})
        path = Path(path)
        if "metadata" in options:
            # A field of a form is text.
            options["metadata"] = cast(Any, json.dumps(options["metadata"]))
        with path.open("rb") as file:
            content = cast(BinaryIO, CountedFile(file, progress))
            body = models.IngestFileBody(file=File(content, path.name, "application/octet-stream"), **options)
            # Not by the generated call, which would part fields by a fixed string that the file may hold.
            response = self._http.post(
                "/videos",
                files=body.to_multipart(),
                headers={} if idempotency_key is None else {"Idempotency-Key": idempotency_key},
            )
        return models.IngestAccepted.from_dict(response.json())

    def ingest_url(
        self, url: str, *, idempotency_key: str | None = None, **options: Unpack[IngestOptions]
    ) -> models.IngestAccepted:
        """Lets the service download a video; the job that is answered goes on with it."""
        body = models.UrlIngestRequest(url=url, **options)
        key = UNSET if idempotency_key is None else idempotency_key
        return _some(ingest_url.sync(client=self._api, body=body, idempotency_key=key))

    def job(self, job_id: str) -> models.Job:
        """A job as it is now."""
        return _some(job.sync(job_id, client=self._api))

    def jobs(self, *, page_size: int = 100) -> Iterator[models.Job]:
        """All jobs that are remembered, the newest first."""
        offset = 0
        while True:
            page = _some(jobs.sync(client=self._api, limit=page_size, offset=offset))
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
        """The job when it is done, looked at every `interval` seconds.

        `progress` is called with the job whenever it has got on. Raises `JobFailed`, and `WaitTimeout` where
        it has not ended after `timeout` seconds. A restart of a service with jobs in memory makes it raise
        `NotFound`; the video is there if the ingest had ended.
        """
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        seen = None
        while True:
            now = self.job(job_id)
            if progress is not None and now != seen:
                progress(now)
            seen = now
            if now.status == "done":
                return now
            if now.status == "failed":
                raise JobFailed(now)
            left = deadline - time.monotonic()
            if left <= 0:
                raise WaitTimeout(now)
            time.sleep(min(interval, left))

    def cancel_job(self, job_id: str) -> models.Job:
        """Ends a job that has not ended, and answers with it."""
        return _some(cancel_job.sync(job_id, client=self._api))

    # Videos

    def videos(self, *, page_size: int = 100, **filters: Unpack[VideoFilters]) -> Iterator[models.Video]:
        """All videos that pass the filters, page by page."""
        cursor: str | None = None
        while True:
            page = _some(videos.sync(client=self._api, limit=page_size, cursor=cursor or UNSET, **filters))
            for each in page.videos:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    def video(self, video_id: str) -> models.VideoDetail:
        """What is known of a video as a whole."""
        return _some(video.sync(video_id, client=self._api))

    def annotate_video(self, video_id: str, **said: Unpack[SaidOptions]) -> models.VideoDetail:
        """Changes what is said of a video: of what is given None removes, and the rest stays."""
        body = models.AnnotateRequest(**said)
        return _some(annotate_video.sync(video_id, client=self._api, body=body))

    def delete_video(self, video_id: str) -> models.Deleted:
        """Removes a video and everything that was stored of it."""
        return _some(delete_video.sync(video_id, client=self._api))

    def collections(self, *, page_size: int = 100) -> Iterator[models.Collection]:
        """The collections that videos are in, by name, page by page."""
        cursor: str | None = None
        while True:
            page = _some(collections.sync(client=self._api, limit=page_size, cursor=cursor or UNSET))
            for each in page.collections:
                yield each
            if not page.next_:
                return
            cursor = page.next_

    def rename_collection(self, collection: str, name: str) -> models.ChangeAccepted:
        """Renames a collection, as a job; one that has the new name already takes its videos in."""
        body = models.RenameRequest(name=name)
        return _some(rename_collection.sync(collection, client=self._api, body=body))

    def delete_collection(self, collection: str, *, videos: models.CollectionVideos) -> models.ChangeAccepted:
        """Removes a collection, as a job: `delete` with its videos, `keep` only from them."""
        return _some(delete_collection.sync(collection, client=self._api, videos=videos))

    def chunks(
        self, video_id: str, *, page_size: int = 100, **filters: Unpack[ChunkFilters]
    ) -> Iterator[models.Chunk]:
        """All chunks of a video that pass the filters, page by page; at most 500 are a page."""
        offset = 0
        while True:
            page = _some(chunks.sync(video_id, client=self._api, limit=page_size, offset=offset, **filters))
            for each in page.chunks:
                yield each
            offset += len(page.chunks)
            if not page.chunks or offset >= page.total:
                return

    def chunk(self, video_id: str, chunk_id: int, *, verbose: bool = False) -> models.Chunk:
        """One chunk, with what every analyzer found in it."""
        return _some(chunk.sync(video_id, chunk_id, client=self._api, verbose=verbose))

    def aggregates(self, video_id: str) -> Mapping[str, Any]:
        """Everything that was concluded from a video, by aggregator."""
        answer = aggregates.sync(video_id, client=self._api)
        return cast(models.AllAggregates, answer).aggregates.additional_properties

    def aggregate(self, video_id: str, aggregator: str) -> Mapping[str, Any]:
        """What one aggregator concluded from a video."""
        answer = aggregates.sync(video_id, client=self._api, aggregator=aggregator)
        return cast(Mapping[str, Any], cast(models.OneAggregate, answer).result)

    def rerun_aggregates(
        self, video_id: str, *, aggregators: str | None = None, force: bool = True
    ) -> models.RerunAccepted:
        """Runs aggregators, given as comma-separated ids, or all of them, over what is stored of a video."""
        body = models.RerunForm(aggregators=UNSET if aggregators is None else aggregators)
        return _some(rerun_aggregates.sync(video_id, client=self._api, body=body, force=force))

    def entities(self, video_id: str, *, min_appearances: int = 1) -> list[models.Entity]:
        """People of a video who were seen in at least so many chunks."""
        answer = entities.sync(video_id, client=self._api, min_appearances=min_appearances)
        return _some(answer).entities

    def transcript(self, video_id: str) -> list[Utterance]:
        """What is said in a video, in order, with speakers where they were told apart.

        Raises `InvalidRequest` where nothing has recognised its speech.
        """
        detail = self.video(video_id)
        analyzer = "diarization" if "diarization" in detail.analyzers else "transcript"
        said: list[Utterance] = []
        for each in self.chunks(video_id, analyzer=analyzer, page_size=500):
            said += utterances(each)
        return said

    def export(self, video_id: str, format: str) -> str:  # noqa: A002
        """The log of a video as a file: srt, vtt, chapters.vtt, ffmetadata, edl, otio, csv or json."""
        response = export.sync_detailed(video_id, client=self._api, format_=format)
        return response.content.decode()

    def frame(self, video_id: str, t: float, *, width: int = 640) -> bytes:
        """The picture at `t` seconds, as a JPEG at most `width` pixels wide."""
        return (frame.sync_detailed(video_id, client=self._api, t=t, width=width)).content

    def storyboard(self, video_id: str) -> models.Storyboard:
        """How the pictures on the sheet of a video are laid out."""
        return _some(storyboard.sync(video_id, client=self._api))

    def storyboard_sheet(self, video_id: str) -> bytes:
        """Small pictures from the whole of a video, as one JPEG."""
        return (storyboard_sheet.sync_detailed(video_id, client=self._api)).content

    # Search and answers

    def search(self, text: str | None = None, **options: Unpack[SearchOptions]) -> models.QueryResponse:
        """Moments by what is in them; with `synthesize`, as is the default, an answer over them. Without a
        text those that are like another one (`like`), or all that the filters leave (`order`)."""
        given = cast(dict[str, Any], {"text": text, **options})
        if "filters" in given:
            given["filters"] = models.QueryRequestFilters.from_dict(given["filters"])
        return _some(query.sync(client=self._api, body=models.QueryRequest(**given)))

    def evidence(self, question: str, **options: Unpack[EvidenceOptions]) -> models.EvidenceResponse:
        """What a model of your own needs to answer a question: the best moments, within `max_tokens`."""
        body = models.EvidenceRequest(question=question, **options)
        return _some(evidence.sync(client=self._api, body=body))

    def moment(self, moment_id: str) -> models.Moment:
        """What is stored of a moment, by the name that hits and citations give it."""
        return _some(moment.sync(moment_id, client=self._api))

    def read_moments(self, moment_ids: list[str], **options: Unpack[ReadOptions]) -> models.ReadMoments:
        """What is stored of several moments, the first that fit into `max_tokens`."""
        body = models.ReadRequest(moment_ids=moment_ids, **options)
        return _some(read_moments.sync(client=self._api, body=body))

    def ask(self, question: str, **options: Unpack[AskOptions]) -> models.AskResponse:
        """An answer out of the footage, each sentence with the moments that support it."""
        return _some(ask.sync(client=self._api, body=models.AskRequest(question=question, **options)))

    def evaluations(self) -> list[models.EvaluationSummary]:
        """What there is of every evaluation, by name."""
        return _some(evaluations.sync(client=self._api)).evaluations

    def put_evaluation(self, name: str, questions: list[models.JudgedQuestion]) -> models.Evaluation:
        """Keeps judged questions under a name, in place of those that it has had."""
        body = models.EvaluationRequest(questions=questions)
        return _some(put_evaluation.sync(name, client=self._api, body=body))

    def evaluation(self, name: str) -> models.Evaluation:
        """An evaluation with its questions."""
        return _some(evaluation.sync(name, client=self._api))

    def delete_evaluation(self, name: str) -> models.DeletedEvaluation:
        """Removes an evaluation and its runs."""
        return _some(delete_evaluation.sync(name, client=self._api))

    def run_evaluation(
        self,
        name: str,
        configurations: list[models.SearchConfiguration] | None = None,
        *,
        max_model_calls: int | None = None,
    ) -> models.EvaluationRunAccepted:
        """Asks the questions, as each configuration says; the run is there once its job is done."""
        body = models.EvaluationRunRequest(max_model_calls=max_model_calls)
        if configurations is not None:
            body.configurations = configurations
        return _some(run_evaluation.sync(name, client=self._api, body=body))

    def evaluation_runs(self, name: str) -> list[models.EvaluationRunSummary]:
        """The runs of an evaluation, the newest first."""
        return _some(evaluation_runs.sync(name, client=self._api)).runs

    def evaluation_run(self, name: str, run_id: str) -> models.EvaluationRun:
        """A run with what each question came to."""
        return _some(evaluation_run.sync(name, run_id, client=self._api))


class _Transport(httpx.BaseTransport):
    """Sends reads again while the service is not there or busy, and raises what answers tell of."""

    def __init__(self, inner: httpx.BaseTransport, retries: int) -> None:
        self._inner = inner
        self._retries = retries

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        left = self._retries if _changes_nothing(request) else 0
        pause = FIRST_PAUSE
        while True:
            wait: float | None
            try:
                response = self._inner.handle_request(request)
                response.read()
                if response.status_code < 400:
                    return response
                failure: Exception = api_error(response)
                wait = max(pause, retry_after(response) or 0) if response.status_code == 503 else None
            except httpx.TransportError as error:
                failure = Unreachable(str(error) or type(error).__name__)
                failure.__cause__ = error
                wait = pause if isinstance(error, httpx.ConnectError) else None
            if not left or wait is None or wait > LONGEST_PAUSE:
                raise failure
            time.sleep(wait)
            left -= 1
            pause *= 2

    def close(self) -> None:
        self._inner.close()


def _changes_nothing(request: httpx.Request) -> bool:
    return request.method == "GET" or request.url.path.endswith(
        ("/query", "/ask", "/evidence", "/moments/read")
    )


def _some(answer: T | None) -> T:
    """The answer of a generated call, which has one for every status below 400 of the API document."""
    assert answer is not None
    return answer
