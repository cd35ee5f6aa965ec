"""A web server for the client scenario: files to ingest, error responses, and a speech recogniser. Prints
its port. scripts/check/clients.sh starts it.

    clients/scenario_server.py FOLDER

    /files/<name>              a file of the folder
    /stalled/<name>            the head of a response, without its body
    /answers/<status>/...      that status for every path
    /v1/audio/transcriptions   the same words for every recording
"""

import http.server
import json
import pathlib
import sys
import threading

WORDS = "The ferry leaves the harbour at nine."


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        match self.path.strip("/").split("/"):
            case ["files", name] if (folder / name).is_file():
                self.answer(200, "video/mp4", (folder / name).read_bytes())
            case ["stalled", _]:
                self.head(200, "video/mp4", 1_000_000)
                threading.Event().wait()
            case ["answers", status, *_]:
                detail = {"detail": f"answered {status}, as requested"}
                self.answer(int(status), "application/json", json.dumps(detail).encode())
            case ["v1", "audio", "transcriptions"]:
                self.answer(200, "application/json", json.dumps({"text": WORDS}).encode())
            case _:
                self.answer(404, "text/plain", b"nothing here")

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.do_GET()

    do_DELETE = do_GET

    def head(self, status, content_type, length):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(length))
        if status in (429, 503):
            self.send_header("Retry-After", "7")
        self.end_headers()

    def answer(self, status, content_type, body):
        self.head(status, content_type, len(body))
        self.wfile.write(body)

    def log_message(self, *_):
        pass


folder = pathlib.Path(sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
