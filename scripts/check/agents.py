"""Tests the MCP server of a running service with the official client: over streamable HTTP in each revision of the
protocol, and through `shotlog mcp` over standard input and output. Every structured result must match the schema of its
tool, no result may exceed the token budget, and hostile arguments must be refused with a message.

    agents.py BASE --video ID --token TOKEN --binary FILE [--tokens 25000]

Exits with 1 if a check fails. The last line counts the calls.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest.mock
import urllib.error
import urllib.request

import httpx2
import jsonschema
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS

# Bytes of JSON per token, the service's conservative estimate.
BYTES_PER_TOKEN = 3
UNKNOWN = "0000000000000000"
# Maximum seconds until a cancelled call ends.
CANCEL_LIMIT = 5


class Check:
    """The calls of one client and the size of their results."""

    def __init__(self, options, client):
        self.options, self.client = options, client
        self.tools, self.calls, self.largest = {}, 0, 0

    def check_budget(self, what, answer):
        """Counts the tokens of a result without its images, which are limited in number and size."""
        document = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
        for block in document.get("content", []):
            block.pop("data", None)
        tokens = len(json.dumps(document, ensure_ascii=False).encode()) // BYTES_PER_TOKEN
        self.calls += 1
        self.largest = max(self.largest, tokens)
        assert tokens <= self.options.tokens, f"{what} has {tokens} tokens"

    async def call(self, tool, progress=None, **arguments):
        """The structured content of a call, validated against the tool's schema."""
        answer = await self.client.call_tool(tool, arguments, progress_callback=progress)
        self.check_budget(tool, answer)
        assert not answer.is_error, f"{tool}: {answer.content[0].text}"
        jsonschema.Draft202012Validator(self.tools[tool].output_schema).validate(answer.structured_content)
        assert answer.content[0].text.strip(), f"{tool} returns no text"
        return answer.structured_content, answer

    async def refusal(self, tool, **arguments):
        """The message of a call that a tool refuses."""
        answer = await self.client.call_tool(tool, arguments)
        self.check_budget(tool, answer)
        assert answer.is_error, f"{tool} accepts {arguments}"
        return answer.content[0].text

    async def list_tools(self):
        cursor = None
        while True:
            listed = await self.client.list_tools(cursor=cursor)
            self.check_budget("the list of tools", listed)
            self.tools |= {tool.name: tool for tool in listed.tools}
            if not (cursor := listed.next_cursor):
                break
        assert len(self.tools) == 13, list(self.tools)
        for tool in self.tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            assert tool.description, tool.name

    async def every_tool(self):
        video = self.options.video
        library, _ = await self.call("describe_library")
        assert video in [known["video_id"] for known in library["newest"]]
        page, result = await self.call("search_moments", text="lentil soup in the kitchen", min_p_present=0.3)
        assert page["results"][0]["video_id"] == video
        # The text alone is enough to read the moments.
        assert all(hit["moment_id"] in result.content[0].text for hit in page["results"])
        read, result = await self.call("read_moments", moment_ids=[page["results"][0]["moment_id"]])
        moment = read["moments"][0]
        assert moment["chunks"][0]["says"], read
        neighbours = [moment[side] for side in ("before", "after") if moment[side]]
        assert neighbours and all(neighbour["moment_id"] in result.content[0].text for neighbour in neighbours)
        nothing, _ = await self.call("search_moments", text="boat", filters={"after": 1e6})
        assert not nothing["results"] and nothing["diagnostics"]
        spoken, result = await self.call("find_intervals", expression={"all": [{"speech": True}, {"says": "soup"}]})
        assert spoken["spans"] and spoken["spans"][0]["moment_id"] in result.content[0].text, spoken
        named, _ = await self.call("find_person")
        assert named["people"] == [] and named["appearances"] == [], named
        answer, _ = await self.call("ask", question="What soup is there in Rosa's kitchen?")
        assert answer["results"], answer
        stored = await self.read(f"shotlog://videos/{video}")
        assert {"summary", "stats"} <= set(stored["aggregates"]) <= set(library["aggregators"])
        for aggregator in stored["aggregates"]:
            await self.aggregate(video, aggregator)
        frames, shown = await self.call("get_frames", video_id=video, times=[1, 12.5], width=320)
        images = [block for block in shown.content if block.type == "image"]
        assert len(images) == len(frames["frames"]) == 2 and images[0].mime_type == "image/jpeg"
        await self.call("get_frames", video_id=video, chunk_ids=[0, 1])
        plan, _ = await self.call("plan_ingest", video_id=video)
        assert plan["chunks"]
        await self.transcript(video)

    async def aggregate(self, video, aggregator):
        """Page by page."""
        cursor = {}
        while True:
            page, _ = await self.call("get_aggregate", video_id=video, aggregator=aggregator, **cursor)
            assert page["result"], aggregator
            if "next" not in page:
                break
            cursor = {"cursor": page["next"]}

    async def transcript(self, video):
        """Page by page, if the video has a transcript."""
        if not await self.has_transcript(video):
            sentence = await self.refusal("get_transcript", video_id=video)
            assert "diarization" in sentence, sentence
            return
        said, cursor = 0, {}
        while True:
            page, _ = await self.call("get_transcript", video_id=video, **cursor)
            said += len(page["utterances"])
            if "next" not in page:
                break
            cursor = {"cursor": page["next"]}
        assert said == page["total"]

    async def has_transcript(self, video):
        document = await self.read(f"shotlog://videos/{video}")
        return {"transcript", "diarization"} & set(document["analyzers"])

    async def read(self, uri):
        answer = await self.client.read_resource(uri)
        self.check_budget(uri, answer)
        return json.loads(answer.contents[0].text)

    async def every_resource(self):
        listed = await self.client.list_resources()
        self.check_budget("the list of resources", listed)
        for resource in listed.resources:
            assert await self.read(resource.uri), resource.uri
        templates = await self.client.list_resource_templates()
        self.check_budget("the list of templates", templates)
        assert len(templates.resource_templates) == 3
        document, pages = await self.read("shotlog://schema"), 1
        while "next" in document:
            document = await self.read(f"shotlog://schema?cursor={document['next']}")
            pages += 1
        assert pages < 20
        with contextlib.suppress(MCPError):
            await self.client.read_resource(f"shotlog://videos/{UNKNOWN}")
            raise AssertionError("an unknown video is read")

    async def hostile(self):
        video = self.options.video
        everything = {"text": "a", "limit": 50}
        await self.call("search_moments", **everything)
        await self.call("ask", question="What is everything about?", limit=20)
        await self.call("describe_library", newest=50)
        limited, shown = await self.call("get_frames", video_id=video, times=[n / 10 for n in range(500)], width=7680)
        assert "of 500 frames" in limited["rest"] and 1 <= len(limited["frames"]) <= 8, limited
        assert len(shown.content) == 1 + len(limited["frames"])
        assert all(frame["width"] <= 1024 for frame in limited["frames"])
        for tool, arguments, word in [
            ("search_moments", {"text": "a", "limit": 10**12}, "1 to 50"),
            ("search_moments", {"text": "a", "limit": -1}, "1 to 50"),
            ("search_moments", {"text": ""}, "not empty"),
            ("find_intervals", {"expression": {"hears": "a"}}, "unknown operator"),
            ("find_person", {"name": "Nobody"}, "Nobody"),
            ("find_person", {"limit": 0}, "1 to 200"),
            ("search_moments", {"text": "a", "everything": True}, "unknown field"),
            ("search_moments", {"text": "a", "analyzer": "../../etc/passwd"}, "nalyzer"),
            ("get_transcript", {"video_id": UNKNOWN}, UNKNOWN),
            ("get_transcript", {"video_id": "../../etc/passwd"}, "etc/passwd"),
            ("get_transcript", {"video_id": video, "cursor": "🎥" * 50}, "cursor"),
            ("get_aggregate", {"video_id": video, "aggregator": "stats", "cursor": "-1"}, "cursor"),
            ("get_aggregate", {"video_id": video, "aggregator": "x" * 5000}, "stats"),
            ("get_frames", {"video_id": video, "times": [1e300]}, "length of the video"),
            ("get_frames", {"video_id": video, "chunk_ids": [2**32 - 1]}, "chunk"),
            ("get_job", {"job_id": "'; DROP TABLE jobs; --"}, "job"),
            ("ingest_url", {"url": "file:///etc/passwd"}, "http"),
            ("ingest_url", {"url": "http://a.test/v.mp4", "analyzers": "nobody"}, "nobody"),
            ("plan_ingest", {}, "either url or video_id"),
        ]:
            sentence = await self.refusal(tool, **arguments)
            assert word in sentence, f"{tool} {arguments}"[:300] + f": {sentence[-300:]}"
        try:
            await self.client.call_tool("delete_everything", {})
        except MCPError as error:
            assert "unknown tool" in str(error), error
        else:
            raise AssertionError("an unknown tool returns a result")

    async def ingest(self, address):
        """Ingests with progress reports, then reads the job."""
        steps = []

        async def progress(step, _total, message):
            steps.append((step, message))

        arguments = {"url": address, "analyzers": "default_video", "min_duration": 3}
        done, _ = await self.call("ingest_url", progress=progress, **arguments)
        assert done["status"] in ("done", "failed") and steps, (done, steps)
        assert [step for step, _ in steps] == sorted({step for step, _ in steps})
        job, _ = await self.call("get_job", job_id=done["job_id"])
        assert job["status"] == done["status"]

    async def cancel(self, address):
        """A cancelled call ends at once, and the service keeps working."""
        began = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                await self.client.call_tool("ingest_url", {"url": address, "wait": 600})
                raise AssertionError("the call returned before it could be cancelled")
        assert time.monotonic() - began < CANCEL_LIMIT
        await self.call("describe_library")


@contextlib.asynccontextmanager
async def endless_download():
    """An address whose download never ends."""
    connections = []

    async def hold(reader, writer):
        connections.append((asyncio.current_task(), writer))
        await reader.read(1000)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 1000000\r\n\r\n")
        await reader.read()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    try:
        yield "http://127.0.0.1:%d/never.mp4" % server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _, writer in connections:
            writer.close()
        await asyncio.gather(*(task for task, _ in connections))


async def run_checks(options, name, transport, mode, revision):
    """All checks over one transport, in a revision of the protocol that client and server agree on."""
    # The server outlives the client, so that no late response meets a closing client.
    async with endless_download() as address, Client(transport, mode=mode, read_timeout_seconds=300) as client:
        check = Check(options, client)
        await check.list_tools()
        await check.every_tool()
        await check.every_resource()
        await check.hostile()
        await check.ingest(f"{options.base}/storage/{options.video}/{options.filename}")
        await check.cancel(address)
        version = client.session.protocol_version
    assert version == revision, f"{version} was agreed on, not {revision}"
    print(f"{name}: {check.calls} valid results, the largest has {check.largest} tokens (protocol {version})", flush=True)
    return check.calls


def status(base, token):
    """The status of a ping with this token."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{base}/mcp", body, headers)) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def command_error(options, base, token):
    """The error output of `shotlog mcp` when it cannot serve."""
    command = [options.binary, "mcp", "--url", base, "--token", token]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=options.folder)
    assert done.returncode == 1 and not done.stdout, done
    return done.stderr


async def over_http(options, mode, revision):
    headers = {"Authorization": f"Bearer {options.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=300) as http:
        transport = streamable_http_client(f"{options.base}/mcp", http_client=http)
        return await run_checks(options, f"HTTP, {mode}", transport, mode, revision)


async def every_revision(options):
    """The number of valid results over HTTP, in each revision that the client knows."""
    calls = 0
    for revision in HANDSHAKE_PROTOCOL_VERSIONS:
        # The client offers its latest revision in the handshake and has no option for another.
        with unittest.mock.patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", revision):
            calls += await over_http(options, "legacy", revision)
    return calls + await over_http(options, "auto", MODERN_PROTOCOL_VERSIONS[-1])


async def over_stdio(options):
    environment = {"SHOTLOG_URL": options.base, "SHOTLOG_TOKEN": options.token}
    command = StdioServerParameters(command=options.binary, args=["mcp"], env=environment, cwd=options.folder)
    return await run_checks(options, "standard input and output", command, "legacy", LATEST_HANDSHAKE_VERSION)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("base")
    parser.add_argument("--video", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--tokens", type=int, default=25_000)
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    for token, expected in [(None, 401), ("wrong", 401), ("", 401), (options.token, 200)]:
        assert status(options.base, token) == expected, f"{token!r}"
    request = urllib.request.Request(
        f"{options.base}/videos/{options.video}", headers={"X-Core-Token": options.token})
    options.filename = json.load(urllib.request.urlopen(request))["filename"]
    with tempfile.TemporaryDirectory() as options.folder:
        assert "cannot reach" in command_error(options, "http://127.0.0.1:9", options.token)
        assert "401" in command_error(options, options.base, "wrong")
        calls = await every_revision(options) + await over_stdio(options)
    print(f"{calls} responses to agents")


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except* AssertionError as group:
        for error in group.exceptions:
            print(f"check failed: {error!r}", file=sys.stderr)
        raise
