"""Keeps thousands of silent or incomplete connections open to a service with few file descriptors, and requests
its health during that time.

    scripts/torture/connections.py BINARY [--connections 2000] [--descriptors 1024] [--reopened 200]
        [--seconds 60] [--limit-ms 100]

Starts the binary with an empty data folder. Exits with 1 if /health fails or exceeds the time limit, or if a slow
but active client is disconnected.
"""

import argparse
import http.client
import multiprocessing
import os
import random
import resource
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time

HALF = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--connections", type=int, default=2000)
    parser.add_argument("--descriptors", type=int, default=1024)
    parser.add_argument("--reopened", type=int, default=200, help="connections reopened per second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--limit-ms", type=float, default=100)
    return parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(options, port, folder, log):
    """Starts the service and waits until it responds."""
    limit = (options.descriptors, options.descriptors)
    environment = os.environ | {
        "SERVICE_HTTP__LISTEN": f"127.0.0.1:{port}",
        "SERVICE_DATA_DIR": folder,
        "SERVICE_HTTP__HEADER_TIMEOUT": "5",
    }
    service = subprocess.Popen(
        [options.binary, "--config", "config.toml", "serve"],
        env=environment,
        stdout=log,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit),
    )
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and service.poll() is None:
        try:
            request_health(port, 1)
            return service
        except OSError:
            time.sleep(0.1)
    sys.exit(f"the service did not start; see {log.name}")


def request_health(port, timeout):
    """Seconds that /health takes on a new connection."""
    started = time.monotonic()
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        client.request("GET", "/health")
        response = client.getresponse()
        response.read()
    finally:
        client.close()
    if response.status != 200:
        raise OSError(f"/health returned {response.status}")
    return time.monotonic() - started


class SilentClients(multiprocessing.Process):
    """Keeps connections open from a separate process: some silent, some with half a request head, some sending a byte
    per second. Reopens closed connections, up to `reopened` per second."""

    def __init__(self, port, count, reopened):
        super().__init__(daemon=True)
        self.port, self.count, self.reopened = port, count, reopened
        self.done = multiprocessing.Event()
        self.opened, self.closed = multiprocessing.Value("q"), multiprocessing.Value("q")

    def run(self):
        self.connections, self.selector = {}, selectors.DefaultSelector()
        random_, started = random.Random(14), time.monotonic()
        next_drip = started
        while not self.done.is_set():
            allowed = self.count + self.reopened * (time.monotonic() - started)
            for _ in range(min(100, self.count - len(self.connections))):
                if self.opened.value < allowed:
                    self.connect(random_.choice(["silent", "half", "drip"]))
            for key, _ in self.selector.select(timeout=0.02):
                self.drop(key.fileobj)
            if time.monotonic() >= next_drip:
                next_drip += 1
                for connection, kind in list(self.connections.items()):
                    if kind == "drip":
                        self.send(connection, b"x")

    def connect(self, kind):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.port))
        self.connections[connection] = kind
        self.opened.value += 1
        self.selector.register(connection, selectors.EVENT_READ)
        if kind != "silent":
            # If it is not connected yet, it stays silent.
            self.send(connection, HALF)

    def send(self, connection, block):
        try:
            connection.send(block)
        except BlockingIOError:
            pass
        except OSError:
            self.drop(connection)

    def drop(self, connection):
        """Forgets a connection that the service has closed or is about to close."""
        if self.connections.pop(connection, None):
            self.closed.value += 1
            self.selector.unregister(connection)
            connection.close()


def slow_upload(port, seconds, failures):
    """Sends a slow request body, which must not be cut off."""
    body = b'{"text": "' + b"x" * int(seconds * 4) + b'", "synthesize": false}'
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            head = f"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode())
            step = max(1, int(len(body) / (seconds * 10)))
            for at in range(0, len(body), step):
                connection.sendall(body[at : at + step])
                time.sleep(0.1)
            response = connection.recv(64)
            if not response.startswith(b"HTTP/1.1 200"):
                failures.append(f"a slow upload received {response!r}")
    except OSError as error:
        failures.append(f"a slow upload was cut off: {error}")


def main():
    options = arguments()
    _, available = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = options.connections + 200
    if available != resource.RLIM_INFINITY and available < needed:
        sys.exit(f"{needed} file descriptors are required; ulimit -n allows {available}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, available))
    port, failures, times = free_port(), [], []
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "wb") as log:
        service = start(options, port, folder, log)
        clients = SilentClients(port, options.connections, options.reopened)
        try:
            clients.start()
            slow = threading.Thread(target=slow_upload, args=(port, min(20, options.seconds), failures))
            slow.start()
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                try:
                    times.append(request_health(port, 10))
                except OSError as error:
                    failures.append(f"/health: {error}")
                time.sleep(0.02)
            slow.join()
        finally:
            clients.done.set()
            clients.join(10)
            service.terminate()
            service.wait(60)
    times.sort()
    if not times:
        sys.exit("/health never responded")
    worst, median = times[-1] * 1000, times[len(times) // 2] * 1000
    if worst > options.limit_ms:
        late = sum(1000 * took > options.limit_ms for took in times)
        failures.append(f"/health took up to {worst:.0f} ms, {late} times longer than {options.limit_ms:.0f} ms")
    print(
        f"{options.connections} silent connections under {options.descriptors} descriptors for "
        f"{options.seconds:.0f} s ({clients.opened.value} opened, {clients.closed.value} closed): {len(times)} times "
        f"/health, median {median:.1f} ms, worst {worst:.1f} ms"
    )
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
