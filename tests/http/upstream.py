"""A server of models that answers at once, misbehaves on demand, and keeps every byte that it was sent.

It runs on a thread of the test and needs the standard library alone. What it does is chosen by what stands before
the slash in the model's name: `stall/gpt-4o` never answers, `gpt-4o` answers at once.
"""

import asyncio
import json
import socket
import struct
import threading
import time

OK = "200 OK"

# How servers say that a prompt was too long for a window of 1,000 tokens. Status, and the body.
OVERFLOWS = {
    "openai": (400, {"error": {
        "message": "This model's maximum context length is 1000 tokens. However, your messages resulted in 2345 tokens. "
                   "Please reduce the length of the messages.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    "vllm": (400, {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
                   "message": "This model's maximum context length is 1000 tokens. However, you requested 2345 tokens "
                              "(2045 in the messages, 300 in the completion). Please reduce the length of the messages "
                              "or completion."}),
    "llama.cpp": (400, {"error": {
        "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 2345, "n_ctx": 1000,
        "message": "the request exceeds the available context size, try increasing it"}}),
    "sglang": (400, {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
                     "message": "The input (2345 tokens) is longer than the model's context length (1000 tokens)."}),
    "litellm": (400, {"error": {
        "message": "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: "
                   "OpenAIException - This model's maximum context length is 1000 tokens. However, your messages "
                   "resulted in 2345 tokens.", "type": None, "param": None, "code": "400"}}),
    "anthropic": (400, {"type": "error", "error": {
        "type": "invalid_request_error", "message": "prompt is too long: 2345 tokens > 1000 maximum"}}),
}


class Request:
    """What came in, byte for byte, and what became of it."""

    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.at = time.monotonic()
        self.sent = b""  # the body that was answered with
        self.gone = threading.Event()  # the other side closed before it had its answer

    @property
    def json(self):
        return json.loads(self.body)


class Upstream:
    """`with Upstream({"gpt-4o": 8192}) as upstream:` listens on `upstream.url` until the end of the block."""

    def __init__(self, models):
        self.models = dict(models)  # names, and the windows that the list says; None: it does not say
        self.requests = []
        self.keeps = True  # the requests
        self.text = "Aye aye, sir."
        self.prompt_tokens = None  # what `usage` says was read; none: there is no usage
        self.release = threading.Event()  # what slow/ waits for
        self.slow_after = 1  # events
        self.wanted_port = 0  # 0: any that is free
        self.owner = "vllm"  # what its list says of whose the models are
        self.hangs_for_lists = False  # whether it answers when it is asked for its models
        self.has_responses = True  # whether it has /v1/responses
        self._seen = {}
        self._long = b""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    def __enter__(self):
        self._thread.start()
        if not self._ready.wait(10):
            raise AssertionError("the upstream did not start")
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._connection, "127.0.0.1", self.wanted_port, backlog=2048, limit=1 << 26))
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._ready.set()
        self._loop.run_forever()
        self._server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    # ---- What tests ask ----

    def to(self, path="/v1/chat/completions"):
        return [request for request in self.requests if request.path == path]

    def last(self, path="/v1/chat/completions"):
        return self.to(path)[-1]

    def clear(self):
        self.requests.clear()
        self._seen.clear()
        self.release.clear()

    def nth(self, key):
        """How often this was asked already."""
        self._seen[key] = self._seen.get(key, 0) + 1
        return self._seen[key]

    # ---- HTTP ----

    async def _connection(self, reader, writer):
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        request = Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))
        if self.keeps:
            self.requests.append(request)
        answer = asyncio.ensure_future(self.answer(request, writer))
        while not answer.done():
            await asyncio.wait({answer}, timeout=0.02)
            if not answer.done() and reader.at_eof():
                request.gone.set()
                answer.cancel()
                return False
        return answer.result()

    async def answer(self, request, writer):
        """False: the connection ends."""
        if request.method == "GET":
            return await self.answer_get(request, writer)
        way = str(request.json.get("model", "")).rpartition("/")[0]
        if way.startswith("overflow-"):
            return await self._overflow(request, writer, way.removeprefix("overflow-"))
        if way and (behaviour := getattr(self, "way_" + way.replace("-", "_"), None)):
            return await behaviour(request, writer)
        try:
            return await self.well(request, writer)
        except (KeyError, TypeError, AttributeError) as missing:
            return await self.plain(request, writer, {"error": {"message": f"bad request: {missing!r}"}}, "400 Bad Request")

    async def answer_get(self, request, writer):
        if self.hangs_for_lists:
            await asyncio.sleep(3600)
        if request.path == "/v1/models":
            return await self.plain(request, writer, {"object": "list", "data": [
                {"id": name, "object": "model", "created": 1, "owned_by": self.owner, "root": name} | ({"max_model_len": window} if window else {})
                for name, window in self.models.items()]})
        return await self.plain(request, writer, {"error": {"message": "no such route"}}, "404 Not Found")

    async def plain(self, request, writer, body, status=OK, headers=""):
        request.sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nX-Request-Id: r1\r\n{headers}"
                     f"Content-Length: {len(request.sent)}\r\n\r\n".encode() + request.sent)
        await writer.drain()
        return True

    async def begin_events(self, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        await writer.drain()

    async def event(self, request, writer, data):
        piece = b"data: " + (data if isinstance(data, bytes) else json.dumps(data).encode()) + b"\n\n"
        request.sent += piece
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()

    async def end_events(self, writer):
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    # ---- Good answers ----

    def usage(self, answer=3):
        return {"prompt_tokens": self.prompt_tokens, "completion_tokens": answer,
                "total_tokens": self.prompt_tokens + answer}

    def message(self, body):
        if not str(body.get("model")).startswith("tools/"):
            return {"role": "assistant", "content": self.text}, "stop"
        call = {"id": "call_1", "type": "function", "function": {"name": "sound", "arguments": '{"side": "port"}'}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"

    def completion(self, body):
        message, reason = self.message(body)
        choices = [{"index": i, "message": message, "finish_reason": reason, "logprobs": None}
                   for i in range(body.get("n") or 1)]
        reply = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body.get("model"),
                 "choices": choices}
        return reply | ({"usage": self.usage()} if self.prompt_tokens is not None else {})

    def chunks(self, body):
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model")}
        message, reason = self.message(body)
        deltas = [{"role": "assistant", "content": ""}]
        if reason == "tool_calls":
            deltas.append({"tool_calls": [{"index": 0} | message["tool_calls"][0]]})
        else:
            words = self.text.split(" ")
            deltas += [{"content": word if i == 0 else " " + word} for i, word in enumerate(words)]
        for delta in deltas:
            yield base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield base | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        if (body.get("stream_options") or {}).get("include_usage") and self.prompt_tokens is not None:
            yield base | {"choices": [], "usage": self.usage()}

    async def well(self, request, writer):
        body = request.json
        if request.path == "/v1/embeddings":
            return await self.plain(request, writer, {"object": "list", "model": body["model"], "data": [
                {"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}],
                "usage": {"prompt_tokens": 1, "total_tokens": 1}})
        if request.path == "/v1/completions":
            reply = {"id": "cmpl-1", "object": "text_completion", "created": 1,
                     "model": body["model"], "choices": [{"index": 0, "text": self.text, "finish_reason": "stop"}]}
            return await self.plain(request, writer, reply | ({"usage": self.usage()} if self.prompt_tokens is not None else {}))
        if request.path == "/v1/responses" and not self.has_responses:
            return await self.plain(request, writer, {"detail": "Not Found"}, "404 Not Found")
        if request.path == "/v1/responses":
            return await self.plain(request, writer, {"id": "resp-1", "object": "response", "model": body["model"],
                "output": [{"type": "message", "content": [{"type": "output_text", "text": self.text}]}]})
        if not body.get("stream"):
            return await self.plain(request, writer, self.completion(body))
        await self.begin_events(writer)
        for chunk in self.chunks(body):
            await self.event(request, writer, chunk)
        await self.event(request, writer, b"[DONE]")
        return await self.end_events(writer)

    # ---- Bad ones ----

    async def way_stall(self, request, writer):
        await asyncio.sleep(60)
        return False

    async def way_stall_later(self, request, writer):
        await self.begin_events(writer)
        await self.event(request, writer, next(self.chunks(request.json)))
        await asyncio.sleep(60)
        return False

    async def way_slow(self, request, writer):
        """The first events, and the others once the test says so."""
        await self.begin_events(writer)
        for number, chunk in enumerate(self.chunks(request.json)):
            while number == self.slow_after and not self.release.is_set():
                await asyncio.sleep(0.01)
            await self.event(request, writer, chunk)
        await self.event(request, writer, b"[DONE]")
        return await self.end_events(writer)

    async def way_pause(self, request, writer):
        """A whole answer, once the test says so."""
        while not self.release.is_set():
            await asyncio.sleep(0.01)
        return await self.well(request, writer)

    async def way_notebook(self, request, writer):
        """At once; when it is asked for facts of a conversation, once the test says so."""
        while b"You keep a notebook" in request.body and not self.release.is_set():
            await asyncio.sleep(0.01)
        return await self.well(request, writer)

    async def way_torn(self, request, writer):
        """Half of an answer, with the length of that half; of a stream the first event, half of the second, and its end."""
        if request.json.get("stream"):
            first, second, *_ = self.chunks(request.json)
            await self.begin_events(writer)
            await self.event(request, writer, first)
            await self.event(request, writer, json.dumps(second).encode()[:40])
            await self.event(request, writer, b"[DONE]")
            return await self.end_events(writer)
        return await self.plain(request, writer, json.dumps(self.completion(request.json)).encode()[:40])

    async def way_empty(self, request, writer):
        return await self.plain(request, writer, b"{}")

    async def way_sorry(self, request, writer):
        return await self.plain(request, writer, b'{"error": {"message": "out of memory", "type": "server_error"}}')

    async def way_reset(self, request, writer):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False

    async def way_reset_once(self, request, writer):
        once = self.nth("reset-once") == 1
        return await (self.way_reset(request, writer) if once else self.well(request, writer))

    async def way_half_chunk(self, request, writer):
        await self.begin_events(writer)
        await self.event(request, writer, next(self.chunks(request.json)))
        writer.write(b"64\r\ndata: {\"half")
        await writer.drain()
        return False

    async def way_wrong_length(self, request, writer):
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"id": 1')
        await writer.drain()
        return False

    async def way_no_http(self, request, writer):
        writer.write(b"ahoy there\r\n\r\n")
        await writer.drain()
        return False

    async def way_status_500(self, request, writer):
        return await self.plain(request, writer, {"error": {"message": "boom"}}, "500 Internal Server Error")

    async def way_parrot(self, request, writer):
        """An error that repeats what it was sent, as servers that check the form of a request do."""
        said = f"1 validation error: messages.0: input_value={request.body.decode(errors='replace')}"
        return await self.plain(request, writer, {"error": {"message": said}}, "400 Bad Request")

    async def way_quote(self, request, writer):
        """An error that quotes the last words it was sent, without JSON's escapes."""
        said = f"This is not allowed here: {request.json['messages'][-1]['content']}"
        return await self.plain(request, writer, {"error": {"message": said}}, "400 Bad Request")

    async def way_quote_late(self, request, writer):
        """An error that checks a field's type, and repeats it behind many words of its own."""
        given = request.json.get("frequency_penalty")
        if not isinstance(given, str):
            return await self.well(request, writer)
        said = "Input should be a valid number. " * 40 + f"input: {given}"
        return await self.plain(request, writer, {"error": {"message": said}}, "400 Bad Request")

    async def way_status_401(self, request, writer):
        return await self.plain(request, writer, {"error": {"message": "who are you?"}}, "401 Unauthorized")

    async def way_status_503_once(self, request, writer):
        if self.nth("503") == 1:
            return await self.plain(request, writer, {"error": {"message": "loading"}}, "503 Service Unavailable")
        return await self.well(request, writer)

    async def way_429(self, request, writer):
        return await self.plain(request, writer, {"error": {"message": "slow down"}}, "429 Too Many Requests",
                                "Retry-After: 7\r\n")

    async def way_429_short(self, request, writer):
        if self.nth("429") == 1:
            return await self.plain(request, writer, {"error": {"message": "slow down"}}, "429 Too Many Requests",
                                    "Retry-After: 1\r\n")
        return await self.well(request, writer)

    async def way_20mb(self, request, writer):
        if not self._long:
            body = self.completion(request.json)
            body["choices"][0]["message"]["content"] = "x" * 20_000_000
            self._long = json.dumps(body).encode()
        return await self.plain(request, writer, self._long)

    async def way_cut(self, request, writer):
        """Reads fewer tokens than it was sent, and says so in its usage alone."""
        body = self.completion(request.json)
        body["usage"] = {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}
        return await self.plain(request, writer, body)

    async def way_echo(self, request, writer):
        """Tells whose answer this is."""
        body = request.json
        reply = self.completion(body)
        reply["choices"][0]["message"]["content"] = json.dumps([body["model"], body.get("temperature")])
        length = len(json.dumps(body["messages"]))
        reply["usage"] = {"prompt_tokens": length, "completion_tokens": 1, "total_tokens": length + 1}
        await asyncio.sleep(0.02)
        return await self.plain(request, writer, reply)

    async def _overflow(self, request, writer, wording):
        always = wording.endswith("-always")
        inside = wording.endswith("-inside")
        status, body = OVERFLOWS[wording.removesuffix("-always").removesuffix("-inside")]
        if not always and self.nth(wording) > 1:
            return await self.well(request, writer)
        if not inside:
            return await self.plain(request, writer, body, f"{status} Bad Request")
        await self.begin_events(writer)
        await self.event(request, writer, body if "error" in body else {"error": body})
        await self.event(request, writer, b"[DONE]")
        return await self.end_events(writer)
