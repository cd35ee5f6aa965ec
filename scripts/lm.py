#!/usr/bin/env python3
"""Holds the service against a real language model's server: a line per check, ok or MISS.

    lm.py BINARY MODEL.gguf CLIP SCRATCH

The model is so small that it writes nonsense. What is checked holds with any model: every job ends,
nothing gets lost, an answer has only what its moments bear out, and every failure says why.
scripts/lm.sh calls this.
"""
import json
import pathlib
import signal
import sys
import time

from lm_world import CITATION, Manner, ModelServer, Proxy, Service

BINARY, MODEL, CLIP = sys.argv[1:4]
SCRATCH = pathlib.Path(sys.argv[4])
CONTEXT = 8192
# What an aggregate of the clip takes at most, so that a model that repeats itself ends soon.
ANSWER = 300
ANALYZERS = "default_video,diarization,ocr"
# What is written again where the server fails: one request, if the model gets it right.
AGGREGATE = "events"
QUESTIONS = [
    "What is said, and by whom?",
    "Is there an elephant in the swimming pool?",
]
missed = []


def check(what, holds, shown=""):
    print(f"  {'ok  ' if holds else 'MISS'} {what}{': ' if shown else ''}{shown}", flush=True)
    if not holds:
        missed.append(what)


def serve(url, data="data", **llm):
    settings = {"model": "smollm2", "context_tokens": CONTEXT - 2000, "max_output_tokens": ANSWER, **llm}
    return Service(BINARY, SCRATCH, data, url, **settings)


def writers(service):
    """The aggregators that ask the model."""
    return [id for id, spec in service.call("/schema")["aggregators"].items() if spec["uses_llm"]]


def is_reason(text):
    """`TypeName: message`."""
    name, _, message = (text or "").partition(": ")
    return name.isidentifier() and len(message) > 10


# ---------------------------------------------------------------- with the server as it is


def ingest(service, proxy):
    job = service.ingest(CLIP, analyzers=ANALYZERS, preset="audio_video", min_duration=3, max_duration=15)
    check("the ingest is done", job["status"] == "done", job["error"] or "")
    video = job["result"]["video_id"]
    job = service.rerun(video, force=False)
    report = job["result"]
    for id in writers(service):
        places = [place for place in ("ran", "reused", "skipped", "failed") if id in report[place]]
        why = report["failed"].get(id)
        there = (id in service.aggregates(video)) == (places[:1] in (["ran"], ["reused"]))
        right = len(places) == 1 and there and (why is None or is_reason(why))
        check(f"{id} is there or says why not", right, f"{places} {why or ''}".strip())
    said = proxy.take()
    formats = {asked.get("response_format", {}).get("type") for asked, _, _ in said}
    check("every answer is asked for by its schema", formats == {"json_schema"}, f"{len(said)} requests")
    check("no request is refused", all(status == 200 for _, status, _ in said))
    check("the server holds the model to the schema", all(map(is_by_schema, said)))
    check("a blind model is shown no pictures", "image_url" not in json.dumps([asked for asked, _, _ in said]))
    consistent(service, video)
    return video


def is_by_schema(exchange):
    """Whether a whole answer has what its schema requires, and nothing else."""
    asked, _, said = exchange
    choice = said["choices"][0]
    if choice["finish_reason"] == "length":
        return True
    wanted = asked["response_format"]["json_schema"]["schema"]["required"]
    try:
        return sorted(json.loads(choice["message"]["content"])) == sorted(wanted)
    except ValueError:
        return False


def consistent(service, video):
    """What the model wrote is of moments that the video has."""
    chunks = {c["chunk_id"]: c for c in service.call(f"/videos/{video}/chunks?limit=500")["chunks"]}
    stored = service.aggregates(video)
    events = stored.get("events", {}).get("events", [])
    inside = [e for e in events if e["chunk_id"] in chunks]
    check("every event is of a moment of the video", len(inside) == len(events), f"{len(events)} events")
    chapters = stored.get("chapters", {}).get("chapters", [])
    covered = [id for chapter in chapters for id in chapter["chunk_ids"]]
    check("chapters cover every chunk once", not chapters or covered == sorted(chunks), f"{len(chapters)} chapters")


def answers(service, proxy, video):
    end = max(c["end"] for c in service.call(f"/videos/{video}/chunks?limit=500")["chunks"])
    for question in QUESTIONS:
        asked = service.call("/ask", {"question": question, "video_ids": [video]})
        answer(f"ask {question!r}", asked, written(proxy), video, end)
        found = service.call("/query", {"text": question, "analyzer": "diarization", "synthesize": True})
        answer(f"query {question!r}", found, written(proxy), video, end)


def written(proxy):
    """How many sentences the model wrote last, 0 where they do not read."""
    said = [said for _, status, said in proxy.take() if status == 200]
    try:
        return len(json.loads(said[-1]["choices"][0]["message"]["content"])["sentences"])
    except (IndexError, KeyError, TypeError, ValueError):
        return 0


def answer(what, response, wrote, video, end):
    text, audit = response["answer"], response.get("audit") or []
    if text is None:
        why = response.get("answer_error")
        check(f"{what}: no answer, and why", is_reason(why) and response["results"], why)
        return
    cited = CITATION.findall(text)
    inside = all(id == video and 0 <= float(a) <= float(b) <= end for id, a, b in cited)
    check(f"{what}: cites moments of the video alone", cited and inside, f"{len(cited)} citations")
    held = [s for s in audit if s["verdict"] != "unsupported"]
    whole = " ".join(" ".join([s["sentence"], *s["citations"]]) for s in held)
    shown = f"{wrote} sentences of the model, {len(held)} in the answer"
    check(f"{what}: is what the check bears out", text == whole, shown)
    print(f"         {text}")


# ---------------------------------------------------------------- with one that fails


def fails(what, service, video, *words):
    """One aggregate and one question come to a clear error, and cost nothing that is there."""
    before = service.aggregates(video)
    job = service.rerun(video, AGGREGATE)
    why = (job["result"] or {}).get("failed", {}).get(AGGREGATE, "") if job["status"] == "done" else job["error"]
    told = is_reason(why) and all(word in why for word in words)
    check(f"{what}: the aggregate's failure says why", job["status"] == "done" and told, why)
    check(f"{what}: nothing that is stored is lost", service.aggregates(video) == before)
    asked = service.call("/ask", {"question": QUESTIONS[0], "video_ids": [video]})
    why = asked.get("answer_error")
    told = asked["answer"] is None and is_reason(why) and all(word in why for word in words)
    check(f"{what}: the question's too, with what was found", told and asked["results"], why)


def goes_on(what, service, video, proxy):
    """An aggregate is written, or says why the model cannot."""
    job = service.rerun(video, AGGREGATE)
    report = job["result"] or {}
    why = report.get("failed", {}).get(AGGREGATE)
    ended = job["status"] == "done" and (AGGREGATE in report["ran"] or is_reason(why))
    check(f"{what}: it goes on", ended, why or "written")
    return [(asked.get("response_format", {}).get("type"), status) for asked, status, _ in proxy.take()]


def small_answer(server, proxy, video):
    with serve(proxy.url, max_output_tokens=8) as service:
        fails("8 tokens an answer", service, video, "cut off after 8 tokens")


def small_context(server, proxy, video):
    server.start(512)
    with serve(proxy.url) as service:
        proxy.take()
        fails("a context of 512 tokens", service, video, "context size")
        said = proxy.take()
        check("a context of 512 tokens: nothing is asked twice", len(said) == 2, f"{len(said)} requests")
    server.start(CONTEXT)


def full_context(server, proxy, video):
    what = "a context that the answer fills"
    with serve(proxy.url) as service:
        proxy.take()
        service.rerun(video, AGGREGATE)
        prompt = next(said["usage"]["prompt_tokens"] for _, status, said in proxy.take() if status == 200)
        # The server rounds up to multiples of 256.
        server.start(prompt // 256 * 256 + 256)
        goes_on(what, service, video, proxy)
    server.start(CONTEXT)


def death(server, proxy, video):
    with serve(f"{server.url}/v1") as service:
        before = service.aggregates(video)
        started = service.start_rerun(video, AGGREGATE)
        for _ in range(600):
            if server.is_asked():
                break
            time.sleep(0.1)
        server.end(signal.SIGKILL)
        why = (service.job(started)["result"] or {}).get("failed", {}).get(AGGREGATE, "")
        check("a server that dies while asked: the failure says so", "cannot reach the model server" in why, why)
        check("a server that dies while asked: nothing that is stored is lost", service.aggregates(video) == before)
        fails("a dead server", service, video, "cannot reach the model server")
        server.start(CONTEXT)
        goes_on("a server that is back", service, video, proxy)


def broken(server, proxy, video):
    with serve(proxy.url) as service:
        proxy.manner = Manner(breaks=1)
        said = goes_on("an answer that breaks off", service, video, proxy)
        check("an answer that breaks off: it is asked for again", len(said) >= 2, f"{len(said)} requests")
    proxy.manner = None


def dialects(server, proxy, video):
    schema, json_object = "json_schema", "json_object"
    cases = [
        ("a server without schemas", Manner([schema]), [(schema, 400), (json_object, 200)]),
        (
            "a server without formats",
            Manner([schema, json_object]),
            [(schema, 400), (json_object, 400), (None, 200)],
        ),
        ("a server that reads past the format", Manner(ignores=True), [(schema, 200)]),
    ]
    for what, manner, expected in cases:
        with serve(proxy.url) as service:
            proxy.manner = manner
            said = goes_on(what, service, video, proxy)
            kept = {format for format, _ in said[len(expected) :]} <= {expected[-1][0]}
            check(f"{what}: what it takes is found out once", said[: len(expected)] == expected and kept, str(said))
    proxy.manner = None


def unknown_name(server, proxy, video):
    with serve(proxy.url, model="no-such-model") as service:
        goes_on("a model of an unknown name (this server takes any)", service, video, proxy)


def pictures(server, proxy, _video):
    with serve(proxy.url, data="pictures", vision=True) as service:
        proxy.take()
        job = service.ingest(CLIP, analyzers="default_video", mode="interval", interval=600)
        why = job["error"] or ""
        check("pictures for a blind server: the job says why it fails", "image input is not supported" in why, why)
        said = proxy.take()
        check("pictures for a blind server: nothing is asked twice", len(said) == 1, f"{len(said)} requests")


def main():
    # As an error would: everything that was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server = ModelServer(MODEL, SCRATCH)
    try:
        server.start(CONTEXT)
        proxy = Proxy(server, SCRATCH / "exchanges.jsonl")
        print("a language model's server as it is")
        with serve(proxy.url) as service:
            video = ingest(service, proxy)
            answers(service, proxy, video)
        print("one that fails")
        for part in (small_answer, small_context, full_context, death, broken, dialects, unknown_name, pictures):
            part(server, proxy, video)
    finally:
        server.end()
    print(f"{len(missed)} missed" if missed else "all hold")
    return bool(missed)


sys.exit(main())
