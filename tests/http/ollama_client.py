"""Drives the gateway with Ollama's own Python client, and writes down what it saw. Run by test_ollama_api.py with the
Python that set-up gave the clients, and with -P: the folder of this file has a module of the client's name.

  python -P ollama_client.py URL MODEL [WHAT...]

Standard output is one JSON object, by the name of what was done.
"""

import asyncio
import json
import sys
import traceback

import ollama

URL, MODEL = sys.argv[1:3]
ASK = [{"role": "system", "content": "You are the mate."}, {"role": "user", "content": "How deep?"}]
DOT = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")
TURNS = [{"role": role, "content": "ship " * 500} for role in ["user", "assistant"] * 40]


def sound(side: str) -> str:
    """Depth below the keel.

    Args:
      side: port or starboard
    """
    return f"12 fathoms to {side}"


def plain(client):
    reply = client.chat(MODEL, ASK, options={"temperature": 0.5, "seed": 7, "num_predict": 50, "stop": ["X"]})
    return {"text": reply.message.content, "role": reply.message.role, "model": reply.model, "done": reply.done,
            "reason": reply.done_reason, "read": reply.prompt_eval_count, "written": reply.eval_count,
            "timed": reply.total_duration > 0 and reply.eval_duration > 0, "created": reply.created_at[:2]}


def streaming(client):
    parts = list(client.chat(MODEL, ASK, stream=True))
    return {"text": "".join(part.message.content for part in parts), "parts": len(parts),
            "done": [part.done for part in parts], "read": parts[-1].prompt_eval_count, "reason": parts[-1].done_reason}


def tools(client):
    reply = client.chat("tools/" + MODEL, ASK, tools=[sound])
    call = reply.message.tool_calls[0].function
    again = client.chat(MODEL, [*ASK, reply.message, {"role": "tool", "content": sound(**call.arguments),
                                                      "tool_name": call.name}], tools=[sound])
    return {"name": call.name, "arguments": call.arguments, "text": again.message.content}


def tools_in_a_stream(client):
    calls = [call.function for part in client.chat("tools/" + MODEL, ASK, tools=[sound], stream=True)
             for call in part.message.tool_calls or []]
    return {"calls": [[call.name, call.arguments] for call in calls]}


def image(client):
    return {"text": client.chat(MODEL, [{"role": "user", "content": "What is it?", "images": [DOT]}]).message.content}


def generate(client):
    whole = client.generate(MODEL, "How deep?", system="You are the mate.")
    parts = list(client.generate(MODEL, "How deep?", stream=True))
    return {"text": whole.response, "reason": whole.done_reason, "read": whole.prompt_eval_count,
            "stream": "".join(part.response for part in parts), "done": parts[-1].done, "parts": len(parts)}


def load(client):
    return {"generate": client.generate(MODEL).done_reason, "chat": client.chat(MODEL).done_reason,
            "unload": client.generate(MODEL, keep_alive=0).done_reason}


def embed(client):
    one, many = client.embed("all-minilm-l6-v2", "cats"), client.embed("all-minilm-l6-v2", ["cats", "ships"])
    old = client.embeddings("all-minilm-l6-v2", "cats")
    return {"one": [len(vector) for vector in one.embeddings], "many": [len(vector) for vector in many.embeddings],
            "same": old.embedding == one.embeddings[0], "other": many.embeddings[0] != many.embeddings[1]}


def embed_upstream(client):
    return {"vectors": client.embed(MODEL, "cats").embeddings, "old": client.embeddings(MODEL, "cats").embedding}


def lists(client):
    shown = client.show(MODEL)
    return {"models": [model.model for model in client.list().models], "info": shown.modelinfo,
            "capabilities": shown.capabilities, "running": {m.model: m.context_length for m in client.ps().models},
            "digests": all(model.digest for model in client.list().models)}


def planned(client):
    reply = client.chat(MODEL, [*TURNS, ASK[1]])
    return {"text": reply.message.content, "read": reply.prompt_eval_count}


def errors(client):
    seen = {}
    long = [{"role": "user", "content": "ship " * 40000}]
    for name, ask in {
        "too long": lambda: client.chat(MODEL, long),
        "too long, streaming": lambda: list(client.chat(MODEL, long, stream=True)),
        "too long, generating": lambda: client.generate(MODEL, "ship " * 40000),
        "no model": lambda: client.chat("nobody/nothing", ASK),
        "no such show": lambda: client.show("nothing"),
        "template": lambda: client.generate(MODEL, "x", template="y"),
        "suffix": lambda: client.generate(MODEL, "x", suffix="y"),
        "context": lambda: client.generate(MODEL, "x", context=[1, 2]),
        "pull": lambda: client.pull("llama3.2"),
        "rate": lambda: client.chat("429/" + MODEL, ASK),
        "breaks off": lambda: list(client.chat("half-chunk/" + MODEL, ASK, stream=True)),
    }.items():
        try:
            ask()
            seen[name] = "no error"
        except ollama.ResponseError as error:
            seen[name] = [error.status_code, error.error]
    return seen


def in_parallel(_):
    async def run():
        client = ollama.AsyncClient(host=URL)

        async def one():
            parts = [part async for part in await client.chat(MODEL, ASK, stream=True)]
            return "".join(part.message.content for part in parts)
        return await asyncio.gather(*(one() for _ in range(20)))
    return {"texts": sorted(set(asyncio.run(run())))}


def main():
    client = ollama.Client(host=URL, timeout=60)
    seen = {}
    for what in (plain, streaming, tools, tools_in_a_stream, image, generate, load, embed, embed_upstream, lists, planned,
                 errors, in_parallel):
        if sys.argv[3:] and what.__name__ not in sys.argv[3:]:
            continue
        try:
            seen[what.__name__] = what(client)
        except Exception:  # noqa: BLE001  told to the test as what this client saw
            seen[what.__name__] = {"raised": traceback.format_exc()}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
