"""An Ollama of the mind: its native routes, ChatML rendered as it would, and num_ctx honoured or not.

Tokens are counted by `plimsoll count` over the rendered prompt, so that what it says was read is what was sent.
"""

import json
import os
import re
import subprocess

from gateway import PROGRAM
from upstream import Upstream


def chatml(messages):
    """As qwen2.5's template has it for plain chats."""
    if messages[0]["role"] != "system":
        messages = [{"role": "system",
                     "content": "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."}, *messages]
    return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages) + "<|im_start|>assistant\n"


def counted(text):
    """With <|im_start|> and its like as the tokens that they are."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
    done = subprocess.run([PROGRAM, "count", "--tokenizer", "qwen2.5", "--specials", "parsed", "--json"], input=text,
                          capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)["tokens"]


def merged(messages):
    """Neighbours of one role are one message to an Ollama."""
    out = []
    for message in messages:
        if out and out[-1]["role"] == message["role"]:
            out[-1] = message | {"content": out[-1]["content"] + "\n\n" + message["content"]}
        else:
            out.append(message)
    return out


class Ollama(Upstream):
    """`models` are names with [what is served, what the model could do]."""

    def __init__(self, models):
        super().__init__(models)
        self.renders = True  # knows _debug_render_only
        self.deaf = 0  # so many chats are answered as if num_ctx were the served window, and cut in silence

    async def answer_get(self, request, writer):
        details = {"family": "qwen2", "parameter_size": "7.6B", "quantization_level": "Q4_K_M"}
        replies = {
            "/api/version": {"version": "0.13.0"},
            "/api/tags": {"models": [{"name": name, "model": name, "details": details} for name in self.models]},
            "/api/ps": {"models": [{"name": name, "model": name, "context_length": served}
                                   for name, (served, _) in self.models.items() if served]},
            "/v1/models": {"object": "list", "data": [
                {"id": name, "object": "model", "created": 1, "owned_by": "library"} for name in self.models]},
        }
        if request.path in replies:
            return await self.plain(request, writer, replies[request.path])
        return await self.plain(request, writer, {"error": "not found"}, "404 Not Found")

    async def answer(self, request, writer):
        if request.path == "/api/show":
            _, most = self.models[request.json["model"]]
            return await self.plain(request, writer, {
                "parameters": "stop \"<|im_end|>\"", "template": "{{ .Prompt }}", "details": {"family": "qwen2"},
                "model_info": {"general.architecture": "qwen2", "qwen2.context_length": most}})
        if request.path == "/api/embed":
            texts = request.json["input"]
            return await self.plain(request, writer, {"embeddings": [[1.0, 0.0]] * (1 if isinstance(texts, str) else len(texts)),
                                                      "prompt_eval_count": 2})
        if request.path == "/api/chat":
            return await self.native(request, writer)
        return await super().answer(request, writer)

    def asked(self):
        """Chats, without the probes of how the server renders them."""
        return [request for request in self.to("/api/chat") if not request.json.get("_debug_render_only")]

    async def native(self, request, writer):
        body = request.json
        rendered = chatml(merged(body["messages"]))
        if body.get("_debug_render_only") and self.renders:
            return await self.plain(request, writer, {"model": body["model"], "done": True, "message": {},
                                                      "_debug_info": {"rendered_template": rendered}})
        tokens = counted(rendered)
        window = body["options"].get("num_ctx", self.models[body["model"]][0] or 4096)
        if self.deaf and not body.get("_debug_render_only"):
            self.deaf -= 1
            tokens = min(tokens, self.models[body["model"]][0] // 2)
        if tokens >= window:
            return await self.plain(request, writer, {"error": "the input length exceeds the context length"},
                                    "400 Bad Request")
        last = {"model": body["model"], "message": {"role": "assistant", "content": ""}, "done": True,
                "done_reason": "stop", "prompt_eval_count": tokens, "eval_count": 3}
        if not body["stream"]:
            last["message"]["content"] = self.text
            return await self.plain(request, writer, last)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        for word in re.findall(r"\S+\s*", self.text):
            line = json.dumps({"message": {"role": "assistant", "content": word}, "done": False}).encode() + b"\n"
            writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        line = json.dumps(last).encode() + b"\n"
        writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n0\r\n\r\n")
        await writer.drain()
        return True
