"""Holds thousands of connections that say nothing, or too little, open to a service that may open
few descriptors, and asks it for its health all the while.

    scripts/torture_connections.py BINARY [--connections 2000] [--descriptors 1024] [--reopened 200]
        [--seconds 60] [--limit-ms 100]

Starts the binary itself, over an empty folder. Ends with 1 when /health fails or takes longer than
the limit, or when a client with something to ask is cut off.
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
    parser.add_argument("--reopened", type=int, default=200, help="connections opened again per second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--limit-ms", type=float, default=100)
    return parser.parse_args()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(options, port, folder, log):
    """The service, once it answers."""
    few = (options.descriptors, options.descriptors)
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
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few),
    )
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and service.poll() is None:
        try:
            ask(port, 1)
            return service
        except OSError:
            time.sleep(0.1)
    sys.exit(f"the service did not start; see {log.name}")


def ask(port, timeout):
    """Seconds that /health takes on a connection of its own."""
    began = time.monotonic()
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        client.request("GET", "/health")
        answer = client.getresponse()
        answer.read()
    finally:
        client.close()
    if answer.status != 200:
        raise OSError(f"/health answered {answer.status}")
    return time.monotonic() - began


class Silent(multiprocessing.Process):
    """Keeps connections open, from a process of its own: some say nothing, some half of a head, some
    drip. Those that are closed are opened again, so many a second."""

    def __init__(self, port, count, reopened):
        super().__init__(daemon=True)
        self.port, self.count, self.reopened = port, count, reopened
        self.done = multiprocessing.Event()
        self.opened, self.closed = multiprocessing.Value("q"), multiprocessing.Value("q")

    def run(self):
        self.open, self.selector = {}, selectors.DefaultSelector()
        random_, began = random.Random(14), time.monotonic()
        next_drip = began
        while not self.done.is_set():
            allowed = self.count + self.reopened * (time.monotonic() - began)
            for _ in range(min(100, self.count - len(self.open))):
                if self.opened.value < allowed:
                    self.connect(random_.choice(["silent", "half", "drip"]))
            for key, _ in self.selector.select(timeout=0.02):
                self.drop(key.fileobj)
            if time.monotonic() >= next_drip:
                next_drip += 1
                for connection, kind in list(self.open.items()):
                    if kind == "drip":
                        self.send(connection, b"x")

    def connect(self, kind):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.port))
        self.open[connection] = kind
        self.opened.value += 1
        self.selector.register(connection, selectors.EVENT_READ)
        if kind != "silent":
            # It may not be connected yet; then it is one more that is silent.
            self.send(connection, HALF)

    def send(self, connection, block):
        try:
            connection.send(block)
        except BlockingIOError:
            pass
        except OSError:
            self.drop(connection)

    def drop(self, connection):
        """The service has closed it, or told it why it will."""
        if self.open.pop(connection, None):
            self.closed.value += 1
            self.selector.unregister(connection)
            connection.close()


def slow_upload(port, seconds, failures):
    """An upload that goes on, slowly: it must not be cut off."""
    body = b'{"text": "' + b"x" * int(seconds * 4) + b'", "synthesize": false}'
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            head = f"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode())
            step = max(1, int(len(body) / (seconds * 10)))
            for at in range(0, len(body), step):
                connection.sendall(body[at : at + step])
                time.sleep(0.1)
            answer = connection.recv(64)
            if not answer.startswith(b"HTTP/1.1 200"):
                failures.append(f"a slow upload was answered {answer!r}")
    except OSError as error:
        failures.append(f"a slow upload was cut off: {error}")


def main():
    options = arguments()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = options.connections + 200
    if most != resource.RLIM_INFINITY and most < needed:
        sys.exit(f"this needs {needed} descriptors itself; ulimit -n allows {most}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, most))
    port, failures, times = free_port(), [], []
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "wb") as log:
        service = start(options, port, folder, log)
        silent = Silent(port, options.connections, options.reopened)
        try:
            silent.start()
            slow = threading.Thread(target=slow_upload, args=(port, min(20, options.seconds), failures))
            slow.start()
            end = time.monotonic() + options.seconds
            while time.monotonic() < end:
                try:
                    times.append(ask(port, 10))
                except OSError as error:
                    failures.append(f"/health: {error}")
                time.sleep(0.02)
            slow.join()
        finally:
            silent.done.set()
            silent.join(10)
            service.terminate()
            service.wait(60)
    times.sort()
    if not times:
        sys.exit("/health never answered")
    worst, usual = times[-1] * 1000, times[len(times) // 2] * 1000
    if worst > options.limit_ms:
        late = sum(1000 * took > options.limit_ms for took in times)
        failures.append(f"/health took up to {worst:.0f} ms, {late} times more than {options.limit_ms:.0f} ms")
    print(
        f"{options.connections} silent connections under {options.descriptors} descriptors for "
        f"{options.seconds:.0f} s ({silent.opened.value} opened, {silent.closed.value} closed): {len(times)} times "
        f"/health, median {usual:.1f} ms, worst {worst:.1f} ms"
    )
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
