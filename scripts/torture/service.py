"""Shared by kills.py and instances.py: clips, requests and the list of problems."""
import hashlib
import json
import os
import socket
import subprocess
import urllib.error
import urllib.request

CLIP_SECONDS = 3
# Chunk length in seconds to the number of chunks of a clip.
CHUNKS = {"1": 3, "1.5": 2, "3": 1}
# Seconds after which a service that does not respond counts as failed to start.
START_LIMIT = 60
# No models, so that the tests are fast and exercise the service itself.
WITHOUT_MODELS = {
    "SERVICE_EMBEDDER__KIND": "hashing",
    **{f"SERVICE_{role}__KIND": "none" for role in ("OCR", "DETECTOR", "TRANSCRIBER", "VAD", "SPEAKER")},
}
SEED = int(os.environ.get("TORTURE_SEED", "1"))

problems = []


def problem(message):
    problems.append(message)
    print(f"  PROBLEM {message}", flush=True)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def make_clip(path, number):
    """The bytes and video id of a clip, different for each number and seed."""
    source = f"testsrc2=size=160x90:rate=10:duration={CLIP_SECONDS},hue=H=t+{number + 10 * SEED}"
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source]
    subprocess.run([*command, str(path)], check=True)
    content = path.read_bytes()
    return content, hashlib.sha1(content).hexdigest()[:16]


def call(port, path, method="GET", body=None, kind=None, timeout=30):
    """Status and content of a response, parsed if it is JSON."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=body, method=method,
        headers={"Content-Type": kind} if kind else {})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            status, content = reply.status, reply.read()
    except urllib.error.HTTPError as error:
        status, content = error.code, error.read()
    try:
        return status, json.loads(content)
    except ValueError:
        return status, content


def upload_form(content, interval):
    """Body and content type of an upload with chunks of `interval` seconds."""
    edge = "clip-edge"
    fields = {"mode": "interval", "interval": interval}
    form = "".join(
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items())
    form += (f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="clip.mp4"\r\n'
             "Content-Type: video/mp4\r\n\r\n")
    body = form.encode() + content + f"\r\n--{edge}--\r\n".encode()
    return body, f"multipart/form-data; boundary={edge}"
