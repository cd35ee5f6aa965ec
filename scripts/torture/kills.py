#!/usr/bin/env python3
"""Kills the service (SIGKILL) at random moments and checks the remaining state.

    kills.py BINARY SCRATCH

    TORTURE_KILLS=15      number of kills
    TORTURE_SECONDS=600   no operation starts after this time
    TORTURE_SEED=1        seed of clips, operations and times

The operations are a first ingest, an ingest with another chunking, one that runs the analyzer again, a re-run of the
aggregates, a delete, changes to a bin, comments, `shotlog reindex` and start-up. Each is killed between its start and
shortly after its usual end.
After each kill the service must start, every acknowledged change must be there, every video must be complete, and
`shotlog verify` must find no mismatch. Records are in a folder and the index is embedded; ffmpeg makes the clips.
Called by scripts/torture/kills.sh.
"""
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

from service import (
    CHUNKS, SEED, START_LIMIT, WITHOUT_MODELS, call, free_port, make_clip, problem, problems, upload_form)

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
SCRATCH = pathlib.Path(sys.argv[2]).resolve()
KILLS = int(os.environ.get("TORTURE_KILLS", "15"))
SECONDS = float(os.environ.get("TORTURE_SECONDS", "600"))
CLIPS = 4
# Seconds until the repairs after a start are done.
REPAIR_LIMIT = 30

rng = random.Random(SEED)


class Clip:
    """A file, and the possible states of its video after the acknowledged changes: its chunk length, or None if the
    video does not exist."""

    def __init__(self, number):
        self.bytes, self.id = make_clip(SCRATCH / f"clip{number}.mp4", number)
        self.possible = {None}
        # The possible texts of its comments.
        self.comments = [set()]


class Bin:
    """A bin, and the possible lists of its selects' ids after the acknowledged changes."""

    def __init__(self):
        self.id = None
        self.possible = [[]]


class Service:
    def __init__(self, data):
        self.data = data
        self.process = None
        self.port = None

    def environment(self):
        return {
            **os.environ,
            "SERVICE_DATA_DIR": str(self.data),
            "SERVICE_HTTP__LISTEN": f"127.0.0.1:{self.port}",
            # A changed number makes the next ingest run the analyzer again.
            "SERVICE_INGEST__FRAMES_PER_CHUNK": str(rng.randint(1, 3)),
            "SERVICE_LOG__FILTER": "warn",
            **WITHOUT_MODELS,
        }

    def spawn(self, *arguments):
        self.port = free_port()
        log = open(SCRATCH / "service.log", "ab")
        self.process = subprocess.Popen(
            [BINARY, *arguments], cwd=SCRATCH, env=self.environment(), stdout=log, stderr=log)

    def start(self):
        """Whether it becomes ready in time."""
        self.spawn("serve")
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.call("/ready")[0] == 200:
                    return True
            except OSError:
                pass
            time.sleep(0.02)
        return False

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def call(self, path, method="GET", body=None, kind=None):
        return call(self.port, path, method, body, kind)

    def upload(self, clip, interval):
        """The id of the job."""
        status, job = self.call("/videos", "POST", *upload_form(clip.bytes, interval))
        if status != 202:
            raise RuntimeError(f"an upload returned {status}: {job}")
        return job["job_id"]

    def follow(self, job_id, until):
        """Whether the job is done before `until`."""
        while time.monotonic() < until:
            _, job = self.call(f"/jobs/{job_id}")
            if job["status"] == "failed":
                raise RuntimeError(f"a job failed: {job['error']}")
            if job["status"] == "done":
                return True
            time.sleep(0.005)
        return False


# ---------------------------------------------------------------- operations

# Usual seconds of each operation.
durations = {}


def kill_delay(name):
    """Seconds from the start of an operation to the kill."""
    return rng.uniform(0, 1.3 * durations.get(name, 1.0))


def record_duration(name, started):
    """Updates the usual duration with an operation that completed."""
    duration = time.monotonic() - started
    durations[name] = 0.7 * durations.get(name, duration) + 0.3 * duration


def run_job(service, name, clip, states, submit):
    """Starts a job and kills the service during it. The video must then be in one of `states`, or in the last one if the
    job was done."""
    started = time.monotonic()
    until = started + kill_delay(name)
    clip.possible = set(states)
    if service.follow(submit(), until):
        record_duration(name, started)
        clip.possible = {states[-1]}
    time.sleep(max(0, until - time.monotonic()))
    service.kill()


def ingest(service, clip, name, interval):
    states = [*clip.possible, interval]
    run_job(service, name, clip, states, lambda: service.upload(clip, interval))


def aggregate(service, clip):
    def submit():
        status, job = service.call(
            f"/videos/{clip.id}/aggregates", "POST", b"", "application/x-www-form-urlencoded")
        if status != 202:
            raise RuntimeError(f"a re-run returned {status}: {job}")
        return job["job_id"]

    run_job(service, "aggregate", clip, list(clip.possible), submit)


def delete(service, clip):
    # Another process sends the request and waits for the response, so that the kill can come in between.
    started = time.monotonic()
    url = f"http://127.0.0.1:{service.port}/videos/{clip.id}"
    client = subprocess.Popen(
        ["curl", "-sf", "-X", "DELETE", url], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    until = started + kill_delay("delete")
    clip.possible = {*clip.possible, None}
    while time.monotonic() < until and client.poll() is None:
        time.sleep(0.001)
    responded = client.poll() is not None
    service.kill()
    response, _ = client.communicate()
    if client.returncode == 22:
        problem(f"a delete of {clip.id} was refused")
    if client.returncode == 0 and response:
        clip.possible = {None}
        if responded:
            record_duration("delete", started)


def change_bin(service, bin, clip):
    """Adds, moves and removes selects, one request at a time, until the kill."""
    if bin.id is None:
        status, created = send_json(service, "/bins", {"name": "kills"})
        if status != 200:
            raise RuntimeError(f"a bin could not be created: {status} {created}")
        bin.id = created["bin_id"]
    select = {"video_id": clip.id, "start": 0, "end": 1}
    with killed_within_a_second(service):
        while True:
            ids = bin.possible[0]
            actions = ["add", "move", "remove"] if 1 < len(ids) < 5000 else ["add"] if len(ids) < 2 else ["remove"]
            action = rng.choice(actions)
            if action == "add":
                # The id of the new select is known only from the response.
                path, body, expected = "", {"selects": [select] * rng.randint(1, 300), "position": 0}, None
            elif action == "move":
                body = {"select_ids": [ids[-1]], "position": 0}
                path, expected = "/move", [ids[-1], *ids[:-1]]
            else:
                path, body, expected = "/remove", {"select_ids": ids[::2]}, ids[1::2]
            bin.possible = [ids, expected if expected is not None else ["new"] * len(body["selects"]) + ids]
            status, response = send_json(service, f"/bins/{bin.id}/selects{path}", body)
            if status != 200:
                raise RuntimeError(f"a change of a bin returned {status}: {response}")
            added = [one["select_id"] for one in response.get("selects", [])] if action == "add" else []
            bin.possible = [added + ids if action == "add" else expected]


def comment(service, clip):
    """Adds comments, one after another, until the kill."""
    with killed_within_a_second(service):
        while True:
            written, text = clip.comments[0], f"comment {rng.random()}"
            clip.comments = [written, written | {text}]
            status, response = send_json(service, f"/videos/{clip.id}/comments", {"start": 0, "text": text})
            if status != 200:
                raise RuntimeError(f"a comment returned {status}: {response}")
            clip.comments = [written | {text}]


@contextlib.contextmanager
def killed_within_a_second(service):
    """Kills the service during the block, whose requests then fail."""
    timer = threading.Timer(rng.uniform(0, 1), service.process.send_signal, [signal.SIGKILL])
    timer.start()
    try:
        yield
    except (OSError, http.client.HTTPException):
        pass
    timer.join()
    service.process.wait()


def send_json(service, path, body):
    return service.call(path, "POST", json.dumps(body).encode(), "application/json")


def reindex(service):
    service.kill()
    started = time.monotonic()
    service.spawn("reindex")
    try:
        if service.process.wait(timeout=kill_delay("reindex")) != 0:
            problem(f"reindex exited with {service.process.returncode}")
        record_duration("reindex", started)
    except subprocess.TimeoutExpired:
        service.kill()


def restart(service):
    service.kill()
    started = time.monotonic()
    service.spawn("serve")
    time.sleep(rng.uniform(0, durations.setdefault("start", 1.0)))
    if service.process.poll() is not None:
        problem(f"serve exited with {service.process.returncode}")
    service.kill()
    durations["start"] = min(durations["start"], 5 * (time.monotonic() - started) + 0.5)


def operate(service, clips, bin):
    """Starts a random operation and kills the service during it; returns its name."""
    clip = rng.choice(clips)
    present = clip.possible != {None}
    names = ["reindex", "start", "ingest"]
    if present:
        names += ["delete", "rechunk", "rechunk", "analyze", "aggregate", "bin", "bin", "comment", "comment"]
    name = rng.choice(names)
    if name == "reindex":
        reindex(service)
    elif name == "start":
        restart(service)
    elif name == "delete":
        delete(service, clip)
    elif name == "aggregate":
        aggregate(service, clip)
    elif name == "bin":
        change_bin(service, bin, clip)
    elif name == "comment":
        comment(service, clip)
    elif name == "analyze":
        ingest(service, clip, name, next(iter(clip.possible)))
    else:
        current = next(iter(clip.possible))
        name = "rechunk" if present else "ingest"
        ingest(service, clip, name, rng.choice([length for length in CHUNKS if length != current]))
    return name


# ---------------------------------------------------------------- checks


def state_of(service, clip):
    """The state of a video; records its faults."""
    status, video = service.call(f"/videos/{clip.id}")
    if status == 404:
        return None
    if status != 200:
        problem(f"{clip.id} returned {status}: {video}")
        return next(iter(clip.possible))
    count = video["chunks"]
    _, log = service.call(f"/videos/{clip.id}/chunks")
    analyzed = [chunk for chunk in log["chunks"] if "default_video" in chunk]
    if len(analyzed) != count:
        problem(f"{clip.id} has {count} chunks, {len(analyzed)} of them analyzed")
    if not video["aggregates"]:
        problem(f"{clip.id} has no aggregates")
    query = {"text": "coloured bars", "video_ids": [clip.id], "limit": 50, "synthesize": False}
    status, response = service.call("/query", "POST", json.dumps(query).encode(), "application/json")
    hits = len(response["results"]) if status == 200 else f"status {status}"
    if hits != count:
        problem(f"{clip.id} has {count} chunks, a search returns {hits}")
    _, content = service.call(urllib.parse.urlparse(video["video_url"]).path)
    if content != clip.bytes:
        problem(f"{clip.id} is stored with different bytes")
    lengths = [length for length, chunks in CHUNKS.items() if chunks == count]
    return lengths[0] if lengths else f"{count} chunks"


def check_state(service, clips, kill):
    """Compares the stored videos with the acknowledged changes."""
    for clip in clips:
        state = state_of(service, clip)
        if state not in clip.possible:
            possible = " or ".join(map(str, clip.possible))
            problem(f"kill {kill}: {clip.id} has the state {state}, but {possible} was acknowledged")
        clip.possible = {state}
    listed = service.call("/videos")[1]["total"]
    present = sum(clip.possible != {None} for clip in clips)
    if listed != present:
        problem(f"kill {kill}: {listed} videos are listed, {present} exist")


def check_bin(service, bin, kill):
    """Compares the selects of the bin with the acknowledged changes."""
    if bin.id is None:
        return
    ids = []
    while True:
        status, page = service.call(f"/bins/{bin.id}/selects?limit=500&offset={len(ids)}")
        if status != 200:
            return problem(f"kill {kill}: the bin returned {status}: {page}")
        ids += [select["select_id"] for select in page["selects"]]
        if not page["selects"]:
            break
    matches = [state for state in bin.possible if len(state) == len(ids)
               and all(known in ("new", found) for known, found in zip(state, ids))]
    if not matches:
        problem(f"kill {kill}: the bin has {len(ids)} selects, {[len(state) for state in bin.possible]} were acknowledged")
    bin.possible = [ids]


def check_comments(service, clips, kill):
    """Compares the comments on the videos with the acknowledged ones."""
    for clip in clips:
        found = set()
        if clip.possible != {None}:
            cursor = ""
            while cursor is not None:
                status, page = service.call(f"/videos/{clip.id}/comments?limit=500{cursor}")
                if status != 200:
                    return problem(f"kill {kill}: the comments on {clip.id} returned {status}: {page}")
                found |= {one["text"] for one in page["comments"]}
                cursor = f"&cursor={page['next']}" if "next" in page else None
            if found not in clip.comments:
                counts = " or ".join(str(len(texts)) for texts in clip.comments)
                problem(f"kill {kill}: {clip.id} has {len(found)} comments, {counts} were acknowledged")
        clip.comments = [found]


def verify(service, kill):
    """Verifies a copy of the data folder, repeatedly until repairs are done."""
    copy = SCRATCH / "copy"
    deadline = time.monotonic() + REPAIR_LIMIT
    while True:
        shutil.rmtree(copy, ignore_errors=True)
        service.process.send_signal(signal.SIGSTOP)
        shutil.copytree(service.data, copy)
        service.process.send_signal(signal.SIGCONT)
        environment = {**service.environment(), "SERVICE_DATA_DIR": str(copy)}
        report = subprocess.run([BINARY, "verify"], cwd=SCRATCH, env=environment, capture_output=True, text=True)
        if report.returncode == 0:
            return
        if time.monotonic() > deadline:
            problem(f"kill {kill}: verify reports {report.stdout} {report.stderr}")
            shutil.copytree(copy, SCRATCH / f"problem-{kill}", dirs_exist_ok=True)
            return
        time.sleep(0.5)


def main():
    started = time.monotonic()
    clips = [Clip(number) for number in range(CLIPS)]
    bin = Bin()
    service = Service(SCRATCH / "data")
    done = {}
    kills = 0
    try:
        if not service.start():
            raise SystemExit("the service did not start")
        while kills < KILLS and time.monotonic() - started < SECONDS:
            name = operate(service, clips, bin)
            kills += 1
            done[name] = done.get(name, 0) + 1
            if not service.start():
                problem(f"kill {kills} ({name}): the service did not start")
                break
            check_state(service, clips, f"{kills} ({name})")
            check_bin(service, bin, f"{kills} ({name})")
            check_comments(service, clips, f"{kills} ({name})")
            verify(service, f"{kills} ({name})")
            if kills % 25 == 0:
                print(f"  {kills} kills, {len(problems)} problems", flush=True)
    finally:
        if service.process and service.process.poll() is None:
            service.kill()
    mix = ", ".join(f"{count} {name}" for name, count in sorted(done.items()))
    print(f"{kills} kills ({mix}), {len(problems)} problems, {time.monotonic() - started:.0f} s, seed {SEED}")
    if kills == 0:
        raise SystemExit("nothing was killed")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
