"""A server with Anthropic's Messages API, which checks what it is sent as strictly as Anthropic's does.

What it does is chosen by what stands before the slash in the model's name, as in upstream.py.
"""

import json
import re

from upstream import Upstream

KEY = "sk-ant-test"
SIGNATURE = "c2lnbmVk"


def problem_in(body):
    """What is wrong with a request, or None."""
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return "max_tokens: Field required"
    thinking = body.get("thinking") or {}
    if thinking.get("budget_tokens", 0) >= body["max_tokens"]:
        return "`max_tokens` must be greater than `thinking.budget_tokens`"
    known = {"model", "max_tokens", "system", "messages", "tools", "tool_choice", "stop_sequences", "temperature", "top_p",
             "top_k", "metadata", "thinking", "stream", "cache_control", "container", "service_tier"}
    if extra := set(body) - known:
        return f"{sorted(extra)[0]}: Extra inputs are not permitted"
    before, open_calls = None, set()
    for at, message in enumerate(body["messages"]):
        role, content = message["role"], message["content"]
        if role not in ("user", "assistant") or role == before or (before is None and role != "user"):
            return f"messages.{at}: roles must alternate between user and assistant, beginning with user"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return f"messages.{at}: text content blocks must be non-empty"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if set(results) != open_calls or [block["type"] for block in blocks[:len(results)]] != ["tool_result"] * len(results):
            return f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after"
        open_calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
        if any(block["type"] == "thinking" and block["signature"] != SIGNATURE for block in blocks):
            return f"messages.{at}: Invalid `signature` in `thinking` block"
        before = role
    return None


class MessagesServer(Upstream):
    def __init__(self, models):
        super().__init__(models)
        self.usage_told = {"input_tokens": 9, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 10}

    def asked(self):
        return [request.json for request in self.to("/v1/messages")]

    async def complain(self, request, writer, status, kind, message, headers=""):
        body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
        return await self.plain(request, writer, body, status, headers)

    def is_known(self, request):
        headers = request.headers
        return (headers.get("x-api-key") == KEY and re.fullmatch(r"\d{4}-\d\d-\d\d", headers.get("anthropic-version", ""))
                and "authorization" not in headers)

    async def answer_get(self, request, writer):
        path, _, query = request.path.partition("?")
        if path != "/v1/models":
            return await self.complain(request, writer, "404 Not Found", "not_found_error", "Not found")
        if query and not self.is_known(request):
            return await self.complain(request, writer, "401 Unauthorized", "authentication_error", "invalid x-api-key")
        data = [{"type": "model", "id": name, "display_name": name, "created_at": "2025-09-29T00:00:00Z", "max_input_tokens": window,
                 "max_tokens": 2000} for name, window in self.models.items()]
        return await self.plain(request, writer, {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]})

    async def answer(self, request, writer):
        if request.method == "POST" and request.path != "/v1/messages":
            return await self.complain(request, writer, "404 Not Found", "not_found_error", "Not found")
        if request.method == "POST" and not self.is_known(request):
            return await self.complain(request, writer, "401 Unauthorized", "authentication_error", "invalid x-api-key")
        if request.method == "POST" and (problem := problem_in(request.json)):
            return await self.complain(request, writer, "400 Bad Request", "invalid_request_error", problem)
        return await super().answer(request, writer)

    # ---- Good answers ----

    def blocks(self, body):
        blocks = []
        if body.get("thinking", {}).get("type") == "enabled":
            blocks.append({"type": "thinking", "thinking": "How deep is deep?", "signature": SIGNATURE})
        if body["model"].startswith("tools/"):
            blocks.append({"type": "tool_use", "id": "toolu_1", "name": "sound", "input": {"side": "port"}})
        else:
            blocks.append({"type": "text", "text": self.text})
        return blocks, "tool_use" if body["model"].startswith("tools/") else "end_turn"

    def events(self, body):
        blocks, reason = self.blocks(body)
        yield {"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": self.usage_told | {"output_tokens": 1}}}
        yield {"type": "ping"}
        for index, block in enumerate(blocks):
            kind = block["type"]
            empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}[kind]
            yield {"type": "content_block_start", "index": index, "content_block": block | empty}
            if kind == "text":
                deltas = [{"type": "text_delta", "text": word} for word in self.text.replace(" ", " |").split("|")]
            elif kind == "thinking":
                deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": SIGNATURE}]
            else:
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", '{"side"', ': "port"}')]
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 3}}
        yield {"type": "message_stop"}

    async def typed_event(self, request, writer, event):
        piece = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        request.sent += piece
        writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await writer.drain()

    async def well(self, request, writer):
        body = request.json
        if body.get("stream"):
            await self.begin_events(writer)
            for event in self.events(body):
                await self.typed_event(request, writer, event)
            return await self.end_events(writer)
        blocks, reason = self.blocks(body)
        return await self.plain(request, writer, headers="Request-Id: req_1\r\n", body={
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": blocks, "stop_reason": reason,
            "stop_sequence": None, "usage": self.usage_told | {"output_tokens": 3}})

    # ---- Bad ones ----

    async def way_429(self, request, writer):
        return await self.complain(request, writer, "429 Too Many Requests", "rate_limit_error", "slow down", "Retry-After: 7\r\n")

    async def way_529(self, request, writer):
        return await self.complain(request, writer, "529 Overloaded", "overloaded_error", "Overloaded", "Retry-After: 8\r\n")

    async def way_529_once(self, request, writer):
        if self.nth("529") == 1:
            return await self.complain(request, writer, "529 Overloaded", "overloaded_error", "Overloaded")
        return await self.well(request, writer)

    async def some_events(self, request, writer, count, last=None):
        await self.begin_events(writer)
        for _, event in zip(range(count), self.events(request.json)):
            await self.typed_event(request, writer, event)
        if last:
            await self.typed_event(request, writer, last)
        return await self.end_events(writer)

    async def way_unfinished(self, request, writer):
        """Ends in good order, but without the event that ends an answer."""
        return await self.some_events(request, writer, 6)

    async def way_overloaded_later(self, request, writer):
        return await self.some_events(request, writer, 5, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})

    async def way_overloaded_first(self, request, writer):
        return await self.some_events(request, writer, 0, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
