#!/usr/bin/env python3
"""Tests the service with a real language model server; prints a line per check, ok or MISS.

    scenarios.py BINARY MODEL.gguf CLIP SCRATCH

The model is so small that it writes nonsense. The checks hold for any model: every job ends, nothing is lost, answers
contain only what their moments support, and every failure states its cause. Called by scripts/lm.sh.
"""
import json
import pathlib
import signal
import sys
import time

from world import CITATION, Deviation, ModelServer, Proxy, Service

BINARY, MODEL, CLIP = sys.argv[1:4]
SCRATCH = pathlib.Path(sys.argv[4])
CONTEXT = 8192
# Maximum output tokens of an aggregate, so that a model that repeats itself ends soon.
MAX_OUTPUT_TOKENS = 300
ANALYZERS = "default_video,diarization,ocr"
# The aggregate that is run again when the server fails; one request if the model succeeds.
AGGREGATE = "events"
QUESTIONS = [
    "What is said, and by whom?",
    "Is there an elephant in the swimming pool?",
]
missed = []


def check(what, holds, detail=""):
    print(f"  {'ok  ' if holds else 'MISS'} {what}{': ' if detail else ''}{detail}", flush=True)
    if not holds:
        missed.append(what)


def serve(url, data="data", **llm):
    settings = {"model": "smollm2", "context_tokens": CONTEXT - 2000, "max_output_tokens": MAX_OUTPUT_TOKENS, **llm}
    return Service(BINARY, SCRATCH, data, url, **settings)


def llm_aggregators(service):
    """The aggregators that call the model."""
    return [id for id, spec in service.call("/schema")["aggregators"].items() if spec["uses_llm"]]


def is_reason(text):
    """`TypeName: message`."""
    name, _, message = (text or "").partition(": ")
    return name.isidentifier() and len(message) > 10


# ---------------------------------------------------------------- with an unmodified server


def ingest(service, proxy):
    job = service.ingest(CLIP, analyzers=ANALYZERS, preset="audio_video", min_duration=3, max_duration=15)
    check("the ingest is done", job["status"] == "done", job["error"] or "")
    video = job["result"]["video_id"]
    job = service.rerun(video, force=False)
    report = job["result"]
    for id in llm_aggregators(service):
        places = [place for place in ("ran", "reused", "skipped", "failed") if id in report[place]]
        why = report["failed"].get(id)
        stored = (id in service.aggregates(video)) == (places[:1] in (["ran"], ["reused"]))
        valid = len(places) == 1 and stored and (why is None or is_reason(why))
        check(f"{id} is stored or its failure has a reason", valid, f"{places} {why or ''}".strip())
    exchanges = proxy.take()
    formats = {request.get("response_format", {}).get("type") for request, _, _ in exchanges}
    check("every request has a schema", formats == {"json_schema"}, f"{len(exchanges)} requests")
    check("no request is refused", all(status == 200 for _, status, _ in exchanges))
    check("the server enforces the schema", all(map(follows_schema, exchanges)))
    check("a model without vision receives no images", "image_url" not in json.dumps([request for request, _, _ in exchanges]))
    check_consistency(service, video)
    return video


def follows_schema(exchange):
    """Whether a complete response has exactly the required properties of its schema."""
    request, _, response = exchange
    choice = response["choices"][0]
    if choice["finish_reason"] == "length":
        return True
    required = request["response_format"]["json_schema"]["schema"]["required"]
    try:
        return sorted(json.loads(choice["message"]["content"])) == sorted(required)
    except ValueError:
        return False


def check_consistency(service, video):
    """Checks that the model's output refers to existing chunks."""
    chunks = {c["chunk_id"]: c for c in service.call(f"/videos/{video}/chunks?limit=500")["chunks"]}
    stored = service.aggregates(video)
    events = stored.get("events", {}).get("events", [])
    inside = [e for e in events if e["chunk_id"] in chunks]
    check("every event is in a chunk of the video", len(inside) == len(events), f"{len(events)} events")
    chapters = stored.get("chapters", {}).get("chapters", [])
    covered = [id for chapter in chapters for id in chapter["chunk_ids"]]
    check("chapters cover every chunk once", not chapters or covered == sorted(chunks), f"{len(chapters)} chapters")


def check_answers(service, proxy, video):
    end = max(c["end"] for c in service.call(f"/videos/{video}/chunks?limit=500")["chunks"])
    for question in QUESTIONS:
        response = service.call("/ask", {"question": question, "video_ids": [video]})
        check_answer(f"ask {question!r}", response, sentences_written(proxy), video, end)
        response = service.call("/query", {"text": question, "analyzer": "diarization", "synthesize": True})
        check_answer(f"query {question!r}", response, sentences_written(proxy), video, end)


def sentences_written(proxy):
    """The number of sentences in the model's last response, 0 if it is not valid."""
    responses = [response for _, status, response in proxy.take() if status == 200]
    try:
        return len(json.loads(responses[-1]["choices"][0]["message"]["content"])["sentences"])
    except (IndexError, KeyError, TypeError, ValueError):
        return 0


def check_answer(what, response, written, video, end):
    text, audit = response["answer"], response.get("audit") or []
    if text is None:
        why = response.get("answer_error")
        check(f"{what}: no answer, with a reason", is_reason(why) and response["results"], why)
        return
    cited = CITATION.findall(text)
    inside = all(id == video and 0 <= float(a) <= float(b) <= end for id, a, b in cited)
    check(f"{what}: cites only moments of the video", cited and inside, f"{len(cited)} citations")
    supported = [s for s in audit if s["verdict"] != "unsupported"]
    whole = " ".join(" ".join([s["sentence"], *s["citations"]]) for s in supported)
    detail = f"{written} sentences of the model, {len(supported)} in the answer"
    check(f"{what}: contains only supported sentences", text == whole, detail)
    print(f"         {text}")


# ---------------------------------------------------------------- with a failing server


def check_failure(what, service, video, *words):
    """Checks that an aggregate and a question fail with a clear reason, and that nothing stored is lost."""
    before = service.aggregates(video)
    job = service.rerun(video, AGGREGATE)
    why = (job["result"] or {}).get("failed", {}).get(AGGREGATE, "") if job["status"] == "done" else job["error"]
    stated = is_reason(why) and all(word in why for word in words)
    check(f"{what}: the aggregate fails with a reason", job["status"] == "done" and stated, why)
    check(f"{what}: nothing stored is lost", service.aggregates(video) == before)
    response = service.call("/ask", {"question": QUESTIONS[0], "video_ids": [video]})
    why = response.get("answer_error")
    stated = response["answer"] is None and is_reason(why) and all(word in why for word in words)
    check(f"{what}: the question fails with a reason and has results", stated and response["results"], why)


def check_recovery(what, service, video, proxy):
    """Checks that an aggregate runs, or fails with a reason; returns formats and statuses of its requests."""
    job = service.rerun(video, AGGREGATE)
    report = job["result"] or {}
    why = report.get("failed", {}).get(AGGREGATE)
    ended = job["status"] == "done" and (AGGREGATE in report["ran"] or is_reason(why))
    check(f"{what}: the aggregate runs", ended, why or "written")
    return [(request.get("response_format", {}).get("type"), status) for request, status, _ in proxy.take()]


def small_answer(server, proxy, video):
    with serve(proxy.url, max_output_tokens=8) as service:
        check_failure("8 output tokens", service, video, "cut off after 8 tokens")


def small_context(server, proxy, video):
    server.start(512)
    with serve(proxy.url) as service:
        proxy.take()
        check_failure("a context of 512 tokens", service, video, "context size")
        exchanges = proxy.take()
        check("a context of 512 tokens: no request is repeated", len(exchanges) == 2, f"{len(exchanges)} requests")
    server.start(CONTEXT)


def full_context(server, proxy, video):
    what = "a context that the response fills"
    with serve(proxy.url) as service:
        proxy.take()
        service.rerun(video, AGGREGATE)
        prompt = next(response["usage"]["prompt_tokens"] for _, status, response in proxy.take() if status == 200)
        # The server rounds up to multiples of 256.
        server.start(prompt // 256 * 256 + 256)
        check_recovery(what, service, video, proxy)
    server.start(CONTEXT)


def death(server, proxy, video):
    with serve(f"{server.url}/v1") as service:
        before = service.aggregates(video)
        started = service.start_rerun(video, AGGREGATE)
        for _ in range(600):
            if server.is_busy():
                break
            time.sleep(0.1)
        server.stop(signal.SIGKILL)
        why = (service.job(started)["result"] or {}).get("failed", {}).get(AGGREGATE, "")
        check("a server that dies during a request: the failure says so", "cannot reach the model server" in why, why)
        check("a server that dies during a request: nothing stored is lost", service.aggregates(video) == before)
        check_failure("a dead server", service, video, "cannot reach the model server")
        server.start(CONTEXT)
        check_recovery("a restarted server", service, video, proxy)


def broken(server, proxy, video):
    with serve(proxy.url) as service:
        proxy.deviation = Deviation(truncates=1)
        requests = check_recovery("a truncated response", service, video, proxy)
        check("a truncated response: the request is repeated", len(requests) >= 2, f"{len(requests)} requests")
    proxy.deviation = None


def dialects(server, proxy, video):
    schema, json_object = "json_schema", "json_object"
    cases = [
        ("a server without schemas", Deviation([schema]), [(schema, 400), (json_object, 200)]),
        (
            "a server without response formats",
            Deviation([schema, json_object]),
            [(schema, 400), (json_object, 400), (None, 200)],
        ),
        ("a server that ignores the format", Deviation(ignores=True), [(schema, 200)]),
    ]
    for what, deviation, expected in cases:
        with serve(proxy.url) as service:
            proxy.deviation = deviation
            requests = check_recovery(what, service, video, proxy)
            kept = {format for format, _ in requests[len(expected) :]} <= {expected[-1][0]}
            check(f"{what}: its formats are detected once", requests[: len(expected)] == expected and kept, str(requests))
    proxy.deviation = None


def unknown_name(server, proxy, video):
    with serve(proxy.url, model="no-such-model") as service:
        check_recovery("an unknown model name (this server accepts any)", service, video, proxy)


def pictures(server, proxy, _video):
    with serve(proxy.url, data="pictures", vision=True) as service:
        proxy.take()
        job = service.ingest(CLIP, analyzers="default_video", mode="interval", interval=600)
        why = job["error"] or ""
        check("images for a model without vision: the job fails with a reason", "image input is not supported" in why, why)
        exchanges = proxy.take()
        check("images for a model without vision: no request is repeated", len(exchanges) == 1, f"{len(exchanges)} requests")


def main():
    # Like an error: stops everything that was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server = ModelServer(MODEL, SCRATCH)
    try:
        server.start(CONTEXT)
        proxy = Proxy(server, SCRATCH / "exchanges.jsonl")
        print("an unmodified language model server")
        with serve(proxy.url) as service:
            video = ingest(service, proxy)
            check_answers(service, proxy, video)
        print("a failing one")
        for part in (small_answer, small_context, full_context, death, broken, dialects, unknown_name, pictures):
            part(server, proxy, video)
    finally:
        server.stop()
    print(f"{len(missed)} missed" if missed else "all checks passed")
    return bool(missed)


sys.exit(main())
