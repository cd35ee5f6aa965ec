"""The requests of compare_answers.py: every read route, and requests that each route refuses.

None of them changes stored data. They use the videos, chunks, labels and speakers that the service reports.
"""
import dataclasses
import itertools
import json
import urllib.parse

UNKNOWN = "0123456789abcdef"
MODES = ["vector", "text", "hybrid"]
DETAILS = ["minimal", "standard", "full"]
FORMATS = ["srt", "vtt", "chapters.vtt", "ffmetadata", "edl", "otio", "csv", "json"]

TEXTS = [
    "a person talking to the camera",
    "cars and people in the street",
    "bicycles and a train",
    "bottles on a table",
    "a bird on a branch",
    "two men arm wrestling",
    "a laptop, a cup and a chair",
    "soup in a kitchen",
    "the harbour in the morning",
    "the space telescope in a clean room",
    "what you can do for your country",
    '"fellow Americans"',
    "what is the weather like?",
    "please fasten your seat belts",
    "the apostle of the middle classes",
    "Omar, a software engineer",
    "speed limit sign",
    "demo reel 2026",
    "chromecast web address",
    "copyright",
    "dark",
    "a red jacket",
    "a giraffe eating leaves",
    "quantum computers and encryption",
    "Überraschung – 日本語 & <b>€ 12,50</b>",
]

QUESTIONS = [
    "What is this video about?",
    "Summarise it in a few sentences.",
    "What happens at the beginning?",
    "What happens in the end?",
    "What happens when, step by step?",
    "Which chapters are there?",
    "Who speaks the most?",
    "How many speakers are there and who interrupts whom?",
    "How many people can be seen?",
    "Who is the person in the red jacket and where do they go?",
    "Which people appear together?",
    "How long is each person on screen?",
    "What objects are there?",
    "How many cars pass by?",
    "Where are the bottles?",
    "What can be read on the signs?",
    "Which names, places and companies are mentioned?",
    "What is the mood of the conversation?",
    "Is anybody angry?",
    "What is the most unusual moment?",
    "When is it busiest?",
    "What should I ask my country?",
    "What soup is there in Rosa's kitchen, and for how many people?",
    "What does the giraffe eat?",
    "Who won the football match in 1954?",
]

# Chunking fields for `/videos/plan` and the chunking preview.
CHUNKINGS = [
    {},
    {"preset": "audio"},
    {"preset": "video"},
    {"min_duration": 2, "max_duration": 8},
    {"min_duration": 0.5, "max_duration": 300},
    {"mode": "interval", "interval": 5},
    {"mode": "interval", "interval": 2.5},
    {"mode": "weights", "cut": 1},
    {"mode": "weights", "silence": 1},
    {"mode": "weights", "speaker": 1},
    {"mode": "weights", "semantic": 1},
    {"mode": "weights", "speaker": 0.5, "silence": 0.25, "cut": 1, "semantic": 0.75},
]
INVALID_CHUNKINGS = [
    {"mode": "nope"},
    {"preset": "nope"},
    {"mode": "weights"},
    {"mode": "weights", "cut": -1},
    {"mode": "interval"},
    {"mode": "interval", "interval": 0},
    {"min_duration": 9, "max_duration": 3},
    {"min_duration": -1},
    {"mode": 5},
]


@dataclasses.dataclass
class Request:
    """One request. Its key is the same in every run; differences are grouped by `route`."""

    route: str
    method: str
    path: str
    body: bytes | None = None
    headers: dict = dataclasses.field(default_factory=dict)

    @property
    def key(self):
        """Identifies the request among the recorded responses."""
        headers = " ".join(f"{name}: {value}" for name, value in self.headers.items())
        body = "" if self.body is None else self.body.decode(errors="replace")
        if headers not in ("", "Content-Type: application/json"):
            headers = f"({shortened(headers)})"
        else:
            headers = ""
        parts = [self.method, self.path, headers, shortened(body)]
        return " ".join(part for part in parts if part)


def shortened(text):
    """A text of limited length, as a part of a key."""
    text = text.replace("\r\n", " ")
    return text if len(text) <= 400 else f"{text[:200]}… ({len(text)} characters)"


def get(route, path, **headers):
    """A GET."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(f"GET {route}", "GET", path, headers=headers)


def post(path, body, route=None):
    """A POST of JSON."""
    kind = {"Content-Type": "application/json"}
    text = json.dumps(body, ensure_ascii=False).encode()
    return Request(f"POST {route or path}", "POST", path, text, kind)


def raw(method, path, body, kind, route=None):
    """A request with a body of any type."""
    headers = {"Content-Type": kind} if kind else {}
    return Request(f"{method} {route or path}", method, path, body, headers)


def multipart(boundary, fields, filename, content):
    """The body of an upload."""
    head = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields
    )
    if filename is None:
        return f"{head}--{boundary}--\r\n".encode()
    head += f'--{boundary}\r\nContent-Disposition: form-data; name="file"; '
    head += f'filename="{filename}"\r\nContent-Type: application/octet-stream\r\n\r\n'
    return head.encode() + content + f"\r\n--{boundary}--\r\n".encode()


def all_requests(document):
    """Every request; `document` returns the JSON of a GET."""
    schema = document("/schema")
    videos = [video["video_id"] for video in document("/videos")["videos"]]
    library = Library(schema, videos)
    requests = [install(), listing(library)]
    for video in videos:
        chunks = document(f"/videos/{video}/chunks?limit=500")["chunks"]
        library.add_labels(chunks)
        requests.append(video_requests(library, document(f"/videos/{video}"), chunks))
    requests += [queries(library), questions(library), refusals(library)]
    seen = set()
    for request in itertools.chain.from_iterable(requests):
        if request.key not in seen:
            seen.add(request.key)
            yield request


class Library:
    """Names of videos, analyzers, fields and labels that requests use."""

    def __init__(self, schema, videos):
        self.analyzers = schema["analyzers"]
        self.fields = list(schema["vector_fields"])
        self.aggregators = list(schema["aggregators"])
        self.groups = schema["exclusive_groups"]
        self.videos = videos
        self.labels = {"objects": set(), "tags": set(), "speakers": set(), "people": set()}

    def add_labels(self, chunks):
        """Collects labels for filters."""
        outputs = [part for chunk in chunks for part in chunk.values() if isinstance(part, dict)]
        for output, (name, labels) in itertools.product(outputs, self.labels.items()):
            labels.update(label for label in output.get(name, []) if isinstance(label, str))

    def first(self, name, count):
        """The first labels in alphabetical order."""
        return sorted(self.labels[name])[:count]


# ---------------------------------------------------------------- requests


def install():
    """Requests about the install."""
    for path in ("/health", "/ready", "/schema", "/analyzers", "/", "/docs", "/redoc", "/session"):
        yield get(path, path)
    yield get("/jobs/{job}", "/jobs/nope")
    yield get("/jobs/{job}/events", "/jobs/nope/events")


def listing(library):
    """The listing of videos, and plans for URLs."""
    for query in ("", "?limit=1", "?limit=3&offset=2", "?offset=1", "?offset=9999"):
        yield get("/videos", f"/videos{query}")
    url = "https://videos.example.org/clip.mp4"
    for chunking in CHUNKINGS:
        for length in ({}, {"duration": 60}):
            yield post("/videos/plan", {"url": url, **length, **chunking})
    for analyzer in library.analyzers:
        yield post("/videos/plan", {"url": url, "duration": 600, "analyzers": analyzer})


def video_requests(library, video, chunks):
    """Everything stored for one video."""
    one, route = f"/videos/{video['video_id']}", "/videos/{video}"
    middle = round(video["duration"] / 2, 2)
    yield get(route, one)

    queries = ["", "limit=500", "verbose=true&limit=500", "limit=2", "limit=2&offset=1"]
    queries += ["offset=1", "offset=9999", f"after={middle}", f"before={middle}", "after=0&before=0"]
    queries += [f"after={middle - 2}&before={middle + 2}", "after=99999", "before=-1", "chunk_ids="]
    queries += ["chunk_ids=0", "chunk_ids=2,0,1", "chunk_ids=0,99999", "chunk_ids=a,b"]
    queries += ["limit=0", "limit=501", "limit=x", "offset=-1", "after=x", "verbose=maybe"]
    for analyzer in [*library.analyzers, "nope"]:
        queries += [f"analyzer={analyzer}", f"analyzer={analyzer}&verbose=true&limit=500"]
    for query in queries:
        yield get(f"{route}/chunks", f"{one}/chunks?{query}".rstrip("?"))
    for chunk in [*(chunk["chunk_id"] for chunk in chunks), 99999, -1, "x"]:
        for query in ("", "?verbose=true"):
            yield get(f"{route}/chunks/{{chunk}}", f"{one}/chunks/{chunk}{query}")

    yield get(f"{route}/aggregates", f"{one}/aggregates")
    for aggregator in [*library.aggregators, "nope", ""]:
        yield get(f"{route}/aggregates", f"{one}/aggregates?aggregator={aggregator}")
    for query in ("", *(f"?min_appearances={minimum}" for minimum in (0, 1, 2, 3, 99, -1, "x"))):
        yield get(f"{route}/entities", f"{one}/entities{query}")
    for query in ("", *(f"?format={name}" for name in [*FORMATS, "nope", ""])):
        yield get(f"{route}/export", f"{one}/export{query}")

    for chunking in [*CHUNKINGS, *INVALID_CHUNKINGS]:
        yield post("/videos/plan", {"video_id": video["video_id"], **chunking})
        preview = f"{one}/chunking/preview"
        yield post(preview, chunking, f"{route}/chunking/preview")
    same = {"analyzers": ",".join(video["analyzers"]), **chunking_fields(video)}
    yield post("/videos/plan", {"video_id": video["video_id"], **same})
    for analyzer in library.analyzers:
        plan = {**chunking_fields(video), "analyzers": analyzer}
        yield post("/videos/plan", {"video_id": video["video_id"], **plan})

    times = ["0", f"{middle}", f"{middle}&width=160", f"{video['duration'] + 100}", "-1", "x"]
    for query in [f"?t={time}" for time in times] + ["", "?t=0&width=8", "?t=0&width=x"]:
        yield get(f"{route}/frames", f"{one}/frames{query}")
    yield get(f"{route}/storyboard", f"{one}/storyboard")
    yield get(f"{route}/storyboard.jpg", f"{one}/storyboard.jpg")
    yield get("/media/{video}", f"/media/{video['video_id']}")
    stored = f"/storage/{urllib.parse.quote(video['storage_path'])}"
    poster = f"/storage/{video['video_id']}/poster.jpg"
    for path in (stored, poster):
        yield Request("HEAD /storage/{key}", "HEAD", path)
    yield get("/storage/{key}", poster)
    for part in ("bytes=0-99", "bytes=-50", "bytes=999999999-"):
        yield get("/storage/{key}", stored, Range=part)


def chunking_fields(video):
    """The chunking fields that give the video's current chunks."""
    mode, _, limits = video["chunk_config"].partition(":")
    if mode == "interval":
        return {"mode": "interval", "interval": float(limits)}
    return {"preset": mode, **video["params"]} if mode in ("audio", "video", "audio_video") else {}


def queries(library):
    """Searches: every mode, analyzer, field and detail, with filters, thresholds and answers."""

    def query(text, **fields):
        return post("/query", {"text": text, "synthesize": False, **fields})

    for text, mode in itertools.product(TEXTS, MODES):
        for analyzer in library.analyzers:
            yield query(text, mode=mode, analyzer=analyzer)
        for field in library.fields:
            yield query(text, mode=mode, field=field, detail="full", limit=10)
    for text, mode, detail in itertools.product(TEXTS[::3], MODES, DETAILS):
        for number, analyzer in enumerate(library.analyzers):
            fields = {"mode": mode, "detail": detail, "analyzer": analyzer}
            yield query(text, limit=50, **fields)
            # Answers take the longest and do not depend on the level of detail.
            if detail == DETAILS[number % 3]:
                yield query(text, **(fields | {"synthesize": True}))
    for text in TEXTS:
        yield post("/query", {"text": text})
        for threshold in (0, 0.2, 0.35, 0.5, 0.99):
            yield query(text, mode=MODES[TEXTS.index(text) % 3], score_threshold=threshold)
    for video, (number, text) in itertools.product(library.videos, enumerate(TEXTS[::4])):
        analyzer = library.analyzers[number % len(library.analyzers)]
        yield query(text, video_ids=[video], mode=MODES[number % 3], analyzer=analyzer)
    for conditions in filters(library):
        for mode, analyzer in itertools.product(MODES, library.analyzers):
            yield query("people in the street", mode=mode, analyzer=analyzer, filters=conditions)
    for videos in ([], [UNKNOWN], [*library.videos[:2], UNKNOWN]):
        yield query("a person", video_ids=videos)


def filters(library):
    """Filters with and without matches."""
    for name in library.labels:
        yield {name: library.first(name, 1)}
        yield {name: library.first(name, 3)}
        yield {name: ["no such label"]}
    yield {name: library.first(name, 5) for name in library.labels}
    yield {"chunk_ids": [0, 1]}
    yield {"chunk_ids": []}
    yield {"video_ids": library.videos[:2]}
    yield {"analyzer_ids": library.analyzers[:2]}
    yield {"chunk_config": "audio_video:5-20"}
    yield {"chunk_config": "audio_video:3-20"}
    yield {"min_people": 1}
    yield {"max_people": 0}
    yield {"min_people": 1, "max_people": 2, "after": 1}
    yield {"after": 10}
    yield {"before": 10.5}
    yield {"after": 5, "before": 20}
    yield {"after": 99999, "objects": library.first("objects", 1)}


def questions(library):
    """Questions about the library, single videos and several videos."""
    for question in QUESTIONS:
        yield post("/ask", {"question": question})
    # With few videos all questions, with many videos a share of the questions for each.
    share = max(1, len(QUESTIONS) * len(library.videos) // 80)
    for number, (video, question) in enumerate(itertools.product(library.videos, QUESTIONS)):
        fields = {"question": question, "video_ids": [video]}
        if number % share == 0:
            yield post("/ask", fields)
        if number % (7 * share) == 0:
            analyzer = library.analyzers[number // (7 * share) % len(library.analyzers)]
            yield post("/ask", {**fields, "analyzer": analyzer, "limit": 1 + number % 20})
    for videos in ([], [UNKNOWN], [*library.videos[:2], UNKNOWN], library.videos[:3]):
        yield post("/ask", {"question": QUESTIONS[0], "video_ids": videos})


def refusals(library):
    """Requests that are refused and change nothing."""
    for unknown in (UNKNOWN, "nope", "..%2f..", UNKNOWN.upper()):
        one, route = f"/videos/{unknown}", "/videos/{video}"
        yield get(route, one)
        for end in ("chunks", "chunks/0", "aggregates", "aggregates?aggregator=stats", "entities"):
            yield get(f"{route}/{end.split('?')[0]}", f"{one}/{end}")
        for end in ("export?format=srt", "frames?t=0", "storyboard", "storyboard.jpg"):
            yield get(f"{route}/{end.split('?')[0]}", f"{one}/{end}")
        yield post(f"{one}/chunking/preview", {}, f"{route}/chunking/preview")
        yield post("/videos/plan", {"video_id": unknown})
        yield get("/media/{video}", f"/media/{unknown}")
        yield raw("POST", f"{one}/aggregates", None, None, f"{route}/aggregates")
        yield raw("DELETE", one, None, None, route)
    for path in ("/storage/nope", "/storage/..%2f..%2fetc%2fpasswd", "/storage/", "/nope", "/jobs/x/y"):
        yield get("(unknown)", path)
    yield raw("DELETE", "/jobs/nope", None, None, "/jobs/{job}")
    for query in ("limit=0", "limit=x", "offset=-1"):
        yield get("/videos", f"/videos?{query}")
        yield get("/jobs", f"/jobs?{query}")
    for method, path in itertools.product(("PUT", "PATCH"), ("/videos", "/query", "/health")):
        yield raw(method, path, b"{}", "application/json")
    yield raw("DELETE", "/query", None, None)

    good, form = b"{}", "application/x-www-form-urlencoded"
    paths = ["/query", "/ask", "/videos/plan", "/videos/url"]
    for path in paths:
        for body in (b"", b"{", b"[]", b"null", b"5", b"{}", b'"text"', b"\xff\xfe"):
            yield raw("POST", path, body, "application/json")
        yield raw("POST", path, good, "text/plain")
        yield raw("POST", path, good, None)
    for body in invalid_queries():
        yield post("/query", body)
    for body in invalid_questions():
        yield post("/ask", body)
    yield from invalid_ingests(library, form)


def invalid_queries():
    """Searches that are refused."""
    for wrong in (
        {"mode": "nope"}, {"analyzer": "nope"}, {"field": "colour"}, {"detail": "huge"},
        {"limit": 0}, {"limit": 51}, {"limit": 2.5}, {"limit": "5"}, {"limit": None},
        {"score_threshold": "high"}, {"synthesize": "no"}, {"video_ids": "all"},
        {"video_ids": [5]}, {"filters": []}, {"filters": {"speaker": ["a"]}},
        {"filters": {"min_poeple": 1}}, {"filters": {"objects": "car"}},
        {"filters": {"objects": [1]}}, {"filters": {"min_people": "2"}},
        {"filters": {"min_people": 1.5}}, {"filters": {"after": "x"}},
        {"filters": {"chunk_ids": ["a"]}}, {"filters": {"chunk_config": 5}},
        {"filters": {"zzzzzzzz": 1}}, {"nope": 1},
    ):  # fmt: skip
        yield {"text": "a person", "synthesize": False, **wrong}
    yield from ({"text": text} for text in ("", " ", 5, None, '"', '""', "x" * 20000))
    yield {"text": '"', "mode": "text"}
    yield {"text": "   ", "mode": "text"}


def invalid_questions():
    """Questions that are refused."""
    for wrong in (
        {"analyzer": "nope"}, {"limit": 0}, {"limit": 21}, {"limit": "5"}, {"video_ids": "all"},
        {"video_ids": [5]}, {"video_ids": [UNKNOWN]},
    ):  # fmt: skip
        yield {"question": "What happens?", **wrong}
    yield from ({"question": text} for text in ("", " ", 5, None))


def invalid_ingests(library, form):
    """Ingests, plans and re-runs that are refused before they start."""
    exclusive = [{"analyzers": ",".join(group)} for group in library.groups]
    wrong = [*INVALID_CHUNKINGS, *exclusive, {"analyzers": "nope"}, {"analyzers": ""}]
    wrong += [{"analyzers": ","}, {"max_model_calls": -1}, {"max_model_calls": 1.5}]
    wrong += [{"callback_url": "https://example.org/"}, {"interval": "x"}]
    for fields in wrong:
        yield post("/videos/url", {"url": "https://videos.example.org/clip.mp4", **fields})
        yield post("/videos/plan", {"url": "https://videos.example.org/clip.mp4", **fields})
        body = multipart("b", fields.items(), "clip.mp4", b"content")
        # An empty form field counts as absent, so that upload would be accepted.
        if all(value not in ("", 5) for value in fields.values()):
            yield raw("POST", "/videos", body, "multipart/form-data; boundary=b")
    for url in ("ftp://example.org/a.mp4", "file:///etc/passwd", "nope", "", 5, None):
        yield post("/videos/url", {"url": url})
        yield post("/videos/plan", {"url": url})
    yield post("/videos/plan", {"url": "https://example.org/a", "video_id": UNKNOWN})
    yield post("/videos/plan", {"url": "https://example.org/a", "duration": -5})
    for key in ("", "k" * 300):
        request = post("/videos/url", {"url": "ftp://example.org/a.mp4"})
        request.headers["Idempotency-Key"] = key
        yield request
    for body in (b"", multipart("b", [], None, b""), multipart("b", [], "a.mp4", b""), b"--b\r\nx"):
        yield raw("POST", "/videos", body, "multipart/form-data; boundary=b")
    yield raw("POST", "/videos", b"{}", "application/json")
    yield raw("POST", "/videos", b"", "multipart/form-data")
    for video in library.videos[:2]:
        path, route = f"/videos/{video}/aggregates", "/videos/{video}/aggregates"
        yield raw("POST", path, b"aggregators=nope", form, route)
        yield raw("POST", path, b"aggregators=stats,nope", form, route)
        yield raw("POST", path, b"{}", "application/json", route)
        yield raw("POST", f"{path}?force=maybe", None, None, route)
