"""Both clients against fake responses."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

import shotlog
from shotlog import AsyncShotlog, Shotlog, _async, _options, _sync, aaf, errors, models
from shotlog._transcript import utterances

Handler = Callable[[httpx.Request], httpx.Response]
CLIENTS = [Shotlog, AsyncShotlog]
JOB = {
    "job_id": "j",
    "source": "clip.mp4",
    "status": "running",
    "stage": "analyzing",
    "detail": {"analyzer": "ocr"},
    "result": None,
    "error": None,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}
HIT = {
    "moment_id": "m",
    "video_id": "v",
    "chunk_id": 0,
    "start": 0,
    "end": 1,
    "timecode": "",
    "score": 0.5,
    "p_present": 0.5,
}


NOTHING_FOUND: dict[str, Any] = {
    "query": "q",
    "analyzer": "",
    "field": "",
    "detail": "",
    "answer": None,
    "results": [],
}


@pytest.fixture(autouse=True)
def _no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_async, _sync):
        monkeypatch.setattr(module, "INITIAL_BACKOFF", 0.0)
    monkeypatch.delenv("SHOTLOG_URL", raising=False)
    monkeypatch.delenv("SHOTLOG_TOKEN", raising=False)


def call(client_class: type[Any], handler: Handler, method: str, *args: Any, **options: Any) -> Any:
    """The result of a method of a client whose requests `handler` answers."""

    async def finished() -> Any:
        client = client_class("http://shotlog", "secret", transport=httpx.MockTransport(handler))
        result = getattr(client, method)(*args, **options)
        if inspect.isasyncgen(result):
            return [each async for each in result]
        if inspect.isawaitable(result):
            return await result
        return list(result) if inspect.isgenerator(result) else result

    return asyncio.run(finished())


def handler_with(*responses: httpx.Response | Exception) -> tuple[Handler, list[httpx.Request]]:
    """A handler that returns the responses in order, and the requests it received."""
    remaining, requests = list(responses), []

    def handler(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        response = remaining.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    return handler, requests


def problem(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"detail": "why"}, headers=headers)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("first", [problem(503), httpx.ConnectError("refused")])
def test_reads_are_retried(client: type[Any], first: httpx.Response | Exception) -> None:
    handler, requests = handler_with(first, httpx.Response(200, json=JOB))
    assert call(client, handler, "job", "j").stage == "analyzing"
    assert [request.headers["X-Core-Token"] for request in requests] == ["secret", "secret"]


@pytest.mark.parametrize("client", CLIENTS)
def test_searches_are_retried_with_their_body(client: type[Any]) -> None:
    handler, requests = handler_with(problem(503), httpx.Response(200, json=NOTHING_FOUND))
    call(client, handler, "search", "harbour", filters={"new_filter": [1]})
    assert [json.loads(request.content)["text"] for request in requests] == ["harbour", "harbour"]
    assert json.loads(requests[0].content)["filters"] == {"new_filter": [1]}


@pytest.mark.parametrize("client", CLIENTS)
def test_searches_take_a_picture(client: type[Any], tmp_path: Path) -> None:
    (tmp_path / "harbour.webp").write_bytes(b"RIFF\0\0\0\0WEBPVP8 ")
    handler, requests = handler_with(httpx.Response(200, json=NOTHING_FOUND))
    image = shotlog.picture_url(tmp_path / "harbour.webp")
    call(client, handler, "search", image=image, region=[0, 0, 0.5, 1])
    sent = json.loads(requests[0].content)
    assert sent["image"] == "data:image/webp;base64,UklGRgAAAABXRUJQVlA4IA=="
    assert sent["region"] == [0, 0, 0.5, 1]


def test_pictures_have_a_known_format(tmp_path: Path) -> None:
    assert shotlog.picture_url(b"\x89PNG\r\n\x1a\n").startswith("data:image/png;base64,")
    (tmp_path / "harbour.gif").write_bytes(b"GIF89a")
    for other in (b"", b"GIF89a", str(tmp_path / "harbour.gif")):
        with pytest.raises(ValueError, match="JPEG, PNG or WebP"):
            shotlog.picture_url(other)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("method", "args", "response", "error"),
    [
        ("ingest_url", ["http://a/b"], problem(503), shotlog.Unavailable),
        ("delete_video", ["v"], httpx.ConnectError("refused"), shotlog.Unreachable),
        ("job", ["j"], problem(500), shotlog.ServerError),
        ("job", ["j"], httpx.ReadTimeout("late"), shotlog.Unreachable),
        ("job", ["j"], problem(503, **{"Retry-After": "60"}), shotlog.Unavailable),
    ],
)
def test_other_requests_are_not_retried(
    client: type[Any],
    method: str,
    args: list[str],
    response: httpx.Response | Exception,
    error: type[Exception],
) -> None:
    handler, requests = handler_with(response)
    with pytest.raises(error):
        call(client, handler, method, *args)
    assert len(requests) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_retries_are_limited(client: type[Any]) -> None:
    handler, requests = handler_with(*[problem(503, **{"Retry-After": "0"}) for _ in range(9)])
    with pytest.raises(shotlog.Unavailable) as raised:
        call(client, handler, "job", "j")
    assert (len(requests), raised.value.retry_after) == (4, 0)


@pytest.mark.parametrize(
    ("response", "kind", "message"),
    [
        (problem(404), "not_found", "why"),
        (httpx.Response(502, text="<html>"), "unavailable", "Bad Gateway"),
        (httpx.Response(413, json=["odd"]), "too_large", "Request Entity Too Large"),
        (httpx.Response(418, content=b""), "unexpected", "I'm a teapot"),
    ],
)
def test_errors_have_the_status_and_the_message(response: httpx.Response, kind: str, message: str) -> None:
    error = errors.api_error(response)
    assert (error.status, error.kind, error.message) == (response.status_code, kind, message)


@pytest.mark.parametrize("client", CLIENTS)
def test_videos_follow_the_cursor(client: type[Any]) -> None:
    video: dict[str, Any] = {
        "video_id": "v",
        "filename": "",
        "video_url": "",
        "poster_url": None,
        "duration": 1,
        "chunks": 1,
        "chunk_config": "",
        "analyzers": [],
    }
    first, last = {"videos": [video], "total": 2, "next": "here"}, {"videos": [video], "total": 2}
    handler, requests = handler_with(httpx.Response(200, json=first), httpx.Response(200, json=last))
    assert len(call(client, handler, "videos", page_size=1, filename="a")) == 2
    assert dict(requests[1].url.params) == {"limit": "1", "cursor": "here", "filename": "a", "offset": "0"}


@pytest.mark.parametrize("client", CLIENTS)
def test_an_upload_sends_its_fields_and_reports_progress(client: type[Any], tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(b"--+++\r\n" * 20_000)
    accepted = {"job_id": "j", "status": "queued", "source": "clip.mp4"}
    handler, requests = handler_with(httpx.Response(200), httpx.Response(202, json=accepted))
    reported: list[tuple[int, int]] = []
    call(
        client,
        handler,
        "ingest_file",
        file,
        progress=lambda *now: reported.append(now),
        interval=2.5,
        mode="interval",
    )
    body = requests[1].content
    assert reported[-1] == (140_000, 140_000)
    assert len(reported) > 2
    assert b'name="interval"\r\n\r\n2.5\r\n' in body.replace(b"\r\nContent-Type: text/plain", b"")
    assert b'filename="clip.mp4"' in body
    assert file.read_bytes() in body


@pytest.mark.parametrize("client", CLIENTS)
def test_waiting_reports_changes(client: type[Any]) -> None:
    steps = [JOB, JOB, JOB | {"stage": "added_later"}, JOB | {"status": "failed", "error": "Odd: it"}]
    handler, _ = handler_with(*[httpx.Response(200, json=step) for step in steps])
    reported: list[models.Job] = []
    with pytest.raises(shotlog.JobFailed, match="Odd: it") as raised:
        call(client, handler, "wait", "j", progress=reported.append, interval=0)
    assert [job.stage for job in reported] == ["analyzing", "added_later", "analyzing"]
    assert raised.value.job == reported[-1]


def test_hits_are_parsed_by_level_of_detail() -> None:
    standard = HIT | {key: [] for key in ["people", "objects", "actions", "tags", "speakers", "turns"]}
    standard |= {"video_url": "", "description": "", "people_count": None}
    full = standard | {"text": "t", "persons": [], "detections": [], "texts": []}
    found: dict[str, Any] = {"query": "", "analyzer": "", "field": "", "detail": "", "answer": None}
    answer = models.QueryResponse.from_dict(found | {"results": [full, standard, HIT | {"snippet": "s"}]})
    assert [type(hit).__name__ for hit in answer.results] == ["FullResult", "StandardResult", "MinimalResult"]


def test_utterances_are_speaker_turns_after_diarization() -> None:
    turn = {"speaker": "S1", "start": 1.0, "end": 2.0, "text": "hello"}
    chunk = {
        "chunk_id": 0,
        "start": 0,
        "end": 3,
        "timecode": "",
        "diarization": {"turns": [turn], "speakers": []},
    }
    assert utterances(models.Chunk.from_dict(chunk)) == [shotlog.Utterance(1.0, 2.0, "hello", "S1")]


@pytest.mark.parametrize(
    ("options", "model", "positional"),
    [
        (_options.IngestOptions, models.UrlIngestRequest, {"url"}),
        (_options.SearchOptions, models.QueryRequest, {"text"}),
        (_options.AskOptions, models.AskRequest, {"question"}),
    ],
)
def test_options_match_the_api(options: type[Any], model: type[Any], positional: set[str]) -> None:
    assert set(options.__annotations__) == {field.name for field in attrs.fields(model)} - positional


def _timeline(*rates: str) -> dict[str, Any]:
    """An OTIO export with a clip of one second for each frame rate."""

    def clip(number: int, rate: str) -> dict[str, Any]:
        frames = float(round(Fraction(rate)))
        start = {"rate": float(Fraction(rate)), "value": 3600 * frames}
        media = {
            "name": f"{number}.mov",
            "target_url": f"http://test/{number}.mov",
            "available_range": {"start_time": start, "duration": {**start, "value": frames * 9}},
            "metadata": {
                "shotlog": {
                    "reel": "A001",
                    "frame_rate": rate,
                    "drop_frame": False,
                    "has_picture": True,
                    "picture_size": [640, 360],
                    "audio_tracks": 1,
                }
            },
        }
        return {
            "name": "clip",
            "source_range": {"start_time": start, "duration": {**start, "value": frames}},
            "media_references": {"M": media},
            "active_media_reference_key": "M",
            "metadata": {"shotlog": {"video_id": str(number)}},
        }

    return {
        "name": "Harbour",
        "global_start_time": {"rate": 25.0, "value": 0.0},
        "metadata": {"shotlog": {"drop_frame": False}},
        "tracks": {"children": [{"children": [clip(*each) for each in enumerate(rates)]}]},
    }


def test_aaf_files_link_to_the_videos_of_a_bin(tmp_path: Path) -> None:
    aaf2 = pytest.importorskip("aaf2")

    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/bins/b/export"
        assert request.url.params["format"] == "otio"
        return httpx.Response(200, json=_timeline("25/1", "25/1"))

    path = tmp_path / "harbour.aaf"
    with Shotlog("http://test", transport=httpx.MockTransport(handler)) as client:
        aaf.save(client, "b", path)
    with aaf2.open(str(path)) as file:
        (composition,) = file.content.toplevel()
        assert composition.name == "Harbour"
        kinds = [(slot.media_kind, slot.segment.length) for slot in composition.slots][1:]
        assert kinds == [("Picture", 50), ("Sound", 50)]
        names = sorted(mob.name for mob in file.content.mastermobs())
        assert names == ["0.mov", "1.mov"]


@pytest.mark.parametrize(("rates", "words"), [((), "no clips"), (("25/1", "30000/1001"), "25/1, 30000/1001")])
def test_aaf_files_have_one_frame_rate(tmp_path: Path, rates: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        aaf.write(_timeline(*rates), tmp_path / "harbour.aaf")
