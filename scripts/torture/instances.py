#!/usr/bin/env python3
"""Runs two instances on one bucket and disturbs one of them during operations.

    instances.py BINARY SCRATCH S3_ENDPOINT

    QDRANT_URL=ADDRESS    a Qdrant server for the index of both; by default each has an embedded index
    TORTURE_ROUNDS=40     number of rounds
    TORTURE_SECONDS=900   no round starts after this time
    TORTURE_SEED=1        seed of clips, operations, disturbances and times

In each round one instance ingests, splits, aggregates or deletes a video. At a random time it is stopped for longer
than its lease (SIGSTOP), or a proxy in front of the bucket drops responses, or delays them for longer than the lease.
Often the other instance works on the same video at the same time. Afterwards both must show the same state, one that
was acknowledged or started, with every video complete, and `shotlog verify` must find no mismatch.
Called by scripts/torture/instances.sh.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import uuid

from service import (
    CHUNKS, SEED, START_LIMIT, WITHOUT_MODELS, call, free_port, make_clip, problem, problems, upload_form)

BINARY = str(pathlib.Path(sys.argv[1]).resolve())
SCRATCH = pathlib.Path(sys.argv[2]).resolve()
BUCKET = urllib.parse.urlsplit(sys.argv[3])
QDRANT = os.environ.get("QDRANT_URL")
COLLECTION = f"shotlog-test-{uuid.uuid4().hex}"
ROUNDS = int(os.environ.get("TORTURE_ROUNDS", "40"))
SECONDS = float(os.environ.get("TORTURE_SECONDS", "900"))
CLIPS = 3
LEASE = 4
# Longer than the lease, so that another instance takes over.
LONG = (LEASE + 2, LEASE + 5)
# Seconds until jobs have ended and their leftovers are repaired.
SETTLE_LIMIT = 120

rng = random.Random(SEED)


class BucketProxy:
    """A proxy between an instance and the bucket, which can drop or delay responses."""

    def __init__(self):
        self.drops_responses = False
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection((BUCKET.hostname, BUCKET.port))
            except OSError:
                client.close()
                continue
            for pump in (self.send_requests, self.send_responses):
                threading.Thread(target=pump, args=(client, server), daemon=True).start()

    def send_requests(self, client, server):
        try:
            while block := client.recv(65536):
                server.sendall(block)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            self.close(client, server)

    def send_responses(self, client, server):
        try:
            while block := server.recv(65536):
                self.open.wait()
                if self.drops_responses:
                    break
                client.sendall(block)
        except OSError:
            pass
        self.close(client, server)

    @staticmethod
    def close(*sockets):
        for connection in sockets:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()


class Instance:
    def __init__(self, name):
        self.name, self.data, self.proxy = name, SCRATCH / name, BucketProxy()
        self.port = free_port()
        self.process = None

    def environment(self):
        settings = {
            "DATA_DIR": self.data, "HTTP__LISTEN": f"127.0.0.1:{self.port}",
            "LOG__FILTER": "warn", "STORAGE__KIND": "s3", "STORAGE__ENDPOINT": self.proxy.address,
            "STORAGE__BUCKET": "shotlog", "STORAGE__PREFIX": "torture/objects", "STORAGE__REGION": "us-east-1",
            "STORAGE__ACCESS_KEY_ID": "test", "STORAGE__SECRET_ACCESS_KEY": "test", "STORAGE__SIGNED_URLS": 600,
            "RECORDS__KIND": "bucket", "RECORDS__BUCKET": "shotlog", "RECORDS__PREFIX": "torture/records",
            "RECORDS__LEASE": LEASE, "RECORDS__REPAIR_INTERVAL": 1, "RECORDS__DEADLINE": 20,
        }
        if QDRANT:
            settings |= {"INDEX__KIND": "qdrant", "INDEX__URL": QDRANT, "INDEX__COLLECTION": COLLECTION}
        return {**os.environ, **WITHOUT_MODELS, **{f"SERVICE_{key}": str(value) for key, value in settings.items()}}

    def start(self):
        log = open(SCRATCH / f"{self.name}.log", "ab")
        self.process = subprocess.Popen([BINARY, "serve"], cwd=SCRATCH, env=self.environment(), stdout=log, stderr=log)
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if self.call("/ready")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        sys.exit(f"instance {self.name} did not start")

    def call(self, path, method="GET", body=None, kind=None):
        return call(self.port, path, method, body, kind, timeout=120)

    def ingest(self, clip, interval):
        return self.call("/videos", "POST", *upload_form(clip.bytes, interval))

    def run(self, clip, operation):
        """Runs an operation to its end; returns done, failed or refused."""
        try:
            if operation == "delete":
                status, response = self.call(f"/videos/{clip.id}", "DELETE")
                return "done" if status == 200 and "storage_error" not in response else "failed"
            if operation == "aggregate":
                path, form = f"/videos/{clip.id}/aggregates", "application/x-www-form-urlencoded"
                status, job = self.call(path, "POST", b"", form)
            else:
                status, job = self.ingest(clip, operation)
            if status != 202:
                if status not in (404, 500, 503):
                    problem(f"{operation} returned {status}: {job}")
                return "refused"
            deadline = time.monotonic() + SETTLE_LIMIT
            while time.monotonic() < deadline:
                _, state = self.call(f"/jobs/{job['job_id']}")
                if state["status"] in ("done", "failed"):
                    return state["status"]
                time.sleep(0.02)
            problem(f"{operation} of {clip.id} on {self.name} has not ended: {state}")
        except (OSError, ValueError) as error:
            problem(f"{operation} on {self.name}: {error!r}")
        return "failed"


class Clip:
    def __init__(self, number):
        self.bytes, self.id = make_clip(SCRATCH / f"clip{number}.mp4", number)
        # The length of its chunks, None if the video does not exist.
        self.state = None


class Task(threading.Thread):
    """An operation in progress."""

    def __init__(self, instance, clip, operation):
        super().__init__()
        self.instance, self.clip, self.operation, self.outcome = instance, clip, operation, None
        self.start()

    def run(self):
        self.outcome = self.instance.run(self.clip, self.operation)


def after(state, operation):
    """The state of a video after an operation."""
    return {"delete": None, "aggregate": state}.get(operation, operation)


def choose(clip):
    if clip.state is None:
        return rng.choice(list(CHUNKS))
    return rng.choice([*(length for length in CHUNKS if length != clip.state)] * 2 + ["delete", "aggregate"])


def disturb(instance):
    """Disturbs an instance for a while; returns how."""
    how = rng.choice(["stopped", "stopped", "dropped", "dropped", "delayed"])
    if how == "stopped":
        instance.process.send_signal(signal.SIGSTOP)
        time.sleep(rng.uniform(*LONG))
        instance.process.send_signal(signal.SIGCONT)
    elif how == "dropped":
        instance.proxy.drops_responses = True
        time.sleep(rng.uniform(0.05, 1.5))
        instance.proxy.drops_responses = False
    else:
        instance.proxy.open.clear()
        time.sleep(rng.uniform(*LONG))
        instance.proxy.open.set()
    return how


def state_on(instance, clip):
    """The state of a video on an instance, and its faults."""
    status, video = instance.call(f"/videos/{clip.id}")
    if status == 404:
        return None, []
    if status != 200:
        return "?", [f"{clip.id} returned {status}: {video}"]
    count, wrong = video["chunks"], []
    _, log = instance.call(f"/videos/{clip.id}/chunks")
    if sum("default_video" in chunk for chunk in log.get("chunks", [])) != count:
        wrong.append(f"{clip.id} lacks outputs of its {count} chunks: {str(log)[:200]}")
    if not video["aggregates"]:
        wrong.append(f"{clip.id} has no aggregates")
    query = json.dumps({"text": "coloured bars", "video_ids": [clip.id], "limit": 50, "synthesize": False})
    status, response = instance.call("/query", "POST", query.encode(), "application/json")
    if status != 200 or len(response["results"]) != count:
        wrong.append(f"{clip.id} has {count} chunks, a search returns {str(response)[:200]}")
    with urllib.request.urlopen(video["video_url"], timeout=60) as content:
        if content.read() != clip.bytes:
            wrong.append(f"{clip.id} is stored with different bytes")
    return next((length for length, chunks in CHUNKS.items() if chunks == count), f"{count} chunks"), wrong


def verify(instance):
    """The mismatches that `shotlog verify` finds in the bucket and a copy of the instance's index."""
    copy = SCRATCH / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    instance.process.send_signal(signal.SIGSTOP)
    shutil.copytree(instance.data, copy)
    instance.process.send_signal(signal.SIGCONT)
    environment = {**instance.environment(), "SERVICE_DATA_DIR": str(copy)}
    report = subprocess.run([BINARY, "verify"], cwd=SCRATCH, env=environment, capture_output=True, text=True)
    return [] if report.returncode == 0 else [f"verify on {instance.name}: {report.stdout[-600:]} {report.stderr[-300:]}"]


def check_agreement(instances, clips, possible, where):
    """Waits until both instances agree; records what still differs at the time limit."""
    deadline = time.monotonic() + SETTLE_LIMIT
    while True:
        wrong, states = [], {}
        for clip in clips:
            views = [state_on(instance, clip) for instance in instances]
            wrong += [f"on {instance.name}: {one}" for instance, (_, faults) in zip(instances, views) for one in faults]
            states[clip.id] = views[0][0]
            if any(state != views[0][0] for state, _ in views):
                wrong.append(f"{clip.id} has the states {[state for state, _ in views]}")
            if views[0][0] not in possible[clip.id]:
                wrong.append(f"{clip.id} has the state {views[0][0]}, but {possible[clip.id]} was acknowledged")
        if not wrong:
            wrong = [one for instance in instances for one in verify(instance)]
        if not wrong:
            break
        if time.monotonic() > deadline:
            for one in wrong:
                problem(f"{where}: {one}")
            break
        time.sleep(0.5)
    for clip in clips:
        clip.state = states[clip.id]


def play(instances, clips, number):
    """One round."""
    clip = rng.choice(clips)
    first, second = rng.sample(instances, 2)
    task = Task(first, clip, choose(clip))
    tasks = [task]
    time.sleep(rng.uniform(0, 1.2))
    if rng.random() < 0.7:
        other = choose(clip)
        threading.Timer(rng.uniform(0, LEASE), lambda: tasks.append(Task(second, clip, other))).start()
        time.sleep(0)
    how = disturb(first)
    # The other operation may only start now.
    time.sleep(LEASE)
    for task in list(tasks):
        task.join()
    done = [task for task in tasks if task.outcome == "done"]
    started = {after(state, task.operation) for task in tasks for state in (clip.state, *(t.operation for t in tasks if t.operation in CHUNKS))}
    if len(tasks) == 1 and done:
        states = {after(clip.state, tasks[0].operation)}
    elif len(tasks) == 2 and len(done) == 2:
        states = started
    else:
        states = {clip.state, *started}
    possible = {other.id: {other.state} for other in clips} | {clip.id: states}
    what = ", ".join(f"{task.operation} on {task.instance.name} {task.outcome}" for task in tasks)
    check_agreement(instances, clips, possible, f"round {number} ({first.name} {how}; {what})")
    return how


def main():
    began = time.monotonic()
    clips = [Clip(number) for number in range(CLIPS)]
    instances = [Instance("a"), Instance("b")]
    rounds, mix = 0, {}
    try:
        for instance in instances:
            instance.start()
        while rounds < ROUNDS and time.monotonic() - began < SECONDS:
            rounds += 1
            how = play(instances, clips, rounds)
            mix[how] = mix.get(how, 0) + 1
            for instance in instances:
                if instance.process.poll() is not None:
                    sys.exit(f"instance {instance.name} exited")
            if rounds % 10 == 0:
                print(f"  {rounds} rounds, {len(problems)} problems", flush=True)
    finally:
        for instance in instances:
            if instance.process and instance.process.poll() is None:
                instance.process.kill()
                instance.process.wait()
    counts = ", ".join(f"{count} {how}" for how, count in sorted(mix.items()))
    print(f"{rounds} rounds ({counts}), {len(problems)} problems, {time.monotonic() - began:.0f} s, seed {SEED}")
    sys.exit(1 if problems or not rounds else 0)


if __name__ == "__main__":
    main()
