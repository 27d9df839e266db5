"""Drives the gateway with the clients that people use, and writes down what they saw. Run by test_clients.py with the
Python that set-up gave them:

  python real_clients.py URL [MODEL NAME...]

Standard output is one JSON object, by the name of what was done: all of it, or what is named.
"""

import asyncio
import json
import sys
import traceback

import anthropic
import openai
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

MESSAGES = [{"role": "system", "content": "You are the mate."}, {"role": "user", "content": "How deep?"}]
TOOL = {"type": "function", "function": {"name": "sound", "description": "Depth below the keel.", "parameters": {
    "type": "object", "properties": {"side": {"type": "string"}}, "required": ["side"]}}}
MODEL = sys.argv[2] if len(sys.argv) > 2 else "gpt-4o"
BRIEF = {} if MODEL == "gpt-4o" else {"max_tokens": 24}  # a real model has more to say than the test has time for
TOO_LONG = [{"role": "user", "content": "ship " * 9000}]


def plain(client):
    raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=MESSAGES, **BRIEF)
    reply = raw.parse()
    return {"text": reply.choices[0].message.content, "read": reply.usage.prompt_tokens,
            "window": raw.headers["x-plimsoll-window"], "trace": raw.headers["x-plimsoll-trace"]}


def planned(client):
    turns = [{"role": role, "content": "ship " * 500} for role in ["user", "assistant"] * 10]
    reply = client.chat.completions.create(model=MODEL, messages=[*turns, MESSAGES[1]],
                                           extra_body={"plimsoll": {"explain": True}})
    ours = reply.model_extra["plimsoll"]
    return {"text": reply.choices[0].message.content, "replaced": ours["summary"]["messages"], "window": ours["window"]}


def with_documents(client):
    reply = client.chat.completions.create(model=f"{MODEL}+ship", messages=[{"role": "user", "content": "load line?"}], **BRIEF)
    return {"text": reply.choices[0].message.content, "nodes": [n["text"] for n in reply.model_extra["source_nodes"]]}


def streaming(client):
    text, read, chunks = "", None, 0
    with client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True,
                                        stream_options={"include_usage": True}, **BRIEF) as stream:
        for chunk in stream:
            chunks += 1
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            read = chunk.usage.prompt_tokens if chunk.usage else read
    return {"text": text, "read": read, "chunks": chunks}


def tools(client):
    reply = client.chat.completions.create(model="tools/gpt-4o", messages=MESSAGES, tools=[TOOL])
    call = reply.choices[0].message.tool_calls[0]
    again = client.chat.completions.create(model=MODEL, tools=[TOOL], messages=[
        *MESSAGES, reply.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "12 fathoms"}])
    return {"name": call.function.name, "arguments": json.loads(call.function.arguments),
            "text": again.choices[0].message.content}


def tools_in_a_stream(client):
    name, arguments = "", ""
    for chunk in client.chat.completions.create(model="tools/gpt-4o", messages=MESSAGES, tools=[TOOL], stream=True):
        for call in chunk.choices[0].delta.tool_calls or [] if chunk.choices else []:
            name += call.function.name or ""
            arguments += call.function.arguments or ""
    return {"name": name, "arguments": json.loads(arguments)}


def others(client):
    models = [model.id for model in client.models.list()]
    vector = client.embeddings.create(model="all-minilm-l6-v2", input="cats").data[0].embedding
    return {"models": models, "model": client.models.retrieve(MODEL).id, "dimensions": len(vector),
            "completion": client.completions.create(model=MODEL, prompt="Ahoy", **BRIEF).choices[0].text}


def responses(client):
    first = client.responses.create(model=MODEL, input="Ahoy", max_output_tokens=8)
    again = client.responses.create(model=MODEL, input="And now?", previous_response_id=first.id, max_output_tokens=8)
    with client.responses.stream(model=MODEL, input="Ahoy", max_output_tokens=8) as stream:
        events = list(stream)
    pieces = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    last = events[-1].response  # completed, or incomplete where a real model had more to say
    kept = client.responses.retrieve(first.id)
    client.responses.delete(first.id)
    return {"text": first.output_text, "after": again.previous_response_id == first.id, "pieces": pieces,
            "last": last.output_text, "kept": kept.output_text, "status": last.status}


def errors(client):
    seen = {}
    for name, ask in {
        "too long": {"model": MODEL, "messages": TOO_LONG},
        "too long, streaming": {"model": MODEL, "messages": TOO_LONG, "stream": True},
        "no index": {"model": MODEL, "messages": MESSAGES, "extra_body": {"index_name": "nowhere"}},
        "bad field": {"model": MODEL, "messages": MESSAGES, "extra_body": {"plimsoll": {"polcy": 1}}},
        "rate": {"model": "429/gpt-4o", "messages": MESSAGES},
    }.items():
        try:
            client.chat.completions.create(**ask)
            seen[name] = "no error"
        except openai.APIStatusError as error:
            seen[name] = [type(error).__name__, error.status_code, error.code, error.message]
    return seen


def in_parallel(url):
    async def run():
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            async def one(number):
                reply = await client.chat.completions.create(model="echo/gpt-4o", messages=MESSAGES,
                                                             temperature=number / 100)
                return json.loads(reply.choices[0].message.content)[1] == number / 100
            answered = await asyncio.gather(*(one(number) for number in range(40)))
            stream = await client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True)
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
        return {"own": sum(answered), "text": text}
    return asyncio.run(run())


def langchain(url):
    model = ChatOpenAI(model=MODEL, base_url=url, api_key="none", max_retries=0, **BRIEF)
    ask = [SystemMessage("You are the mate."), HumanMessage("How deep?")]
    whole = model.invoke(ask)
    return {"text": whole.content, "read": whole.usage_metadata["input_tokens"],
            "stream": "".join(chunk.content for chunk in model.stream(ask))}


def langchain_tools(url):
    model = ChatOpenAI(model="tools/gpt-4o", base_url=url, api_key="none").bind_tools([TOOL])
    return {"calls": model.invoke([HumanMessage("How deep?")]).tool_calls[0]["args"]}


def llamaindex(url):
    model = OpenAILike(model=MODEL, api_base=url, api_key="none", is_chat_model=True, context_window=8192,
                       max_retries=0, **BRIEF)
    ask = [ChatMessage(role="system", content="You are the mate."), ChatMessage(role="user", content="How deep?")]
    return {"text": model.chat(ask).message.content,
            "stream": "".join(piece.delta or "" for piece in model.stream_chat(ask))}


def litellm_client(url):
    import litellm  # noqa: PLC0415  it takes seconds

    litellm.suppress_debug_info = True  # or it writes to standard output
    ask = {"model": f"openai/{MODEL}", "api_base": url, "api_key": "none", "num_retries": 0} | BRIEF
    whole = litellm.completion(messages=MESSAGES, **ask)
    stream = litellm.completion(messages=MESSAGES, stream=True, **ask)
    seen = {"text": whole.choices[0].message.content, "read": whole.usage.prompt_tokens,
            "stream": "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)}
    try:
        litellm.completion(messages=TOO_LONG, **ask)
        return seen
    except litellm.ContextWindowExceededError as error:
        return seen | {"too long": error.status_code}


def anthropic_client(url):
    client = anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0, timeout=300)
    whole = client.messages.create(model=MODEL, max_tokens=8, system="You are the mate.", messages=MESSAGES[1:])
    with client.messages.stream(model=MODEL, max_tokens=8, messages=MESSAGES[1:]) as stream:
        pieces = "".join(stream.text_stream)
        last = stream.get_final_message()
    counted = client.messages.count_tokens(model=MODEL, messages=MESSAGES[1:])
    seen = {"text": whole.content[0].text, "pieces": pieces, "last": last.content[0].text, "stop": last.stop_reason in ("end_turn", "max_tokens"),
            "counted": counted.input_tokens > 0, "models": client.models.list().data[0].id}
    try:
        client.messages.create(model=MODEL, max_tokens=8, messages=TOO_LONG)
    except anthropic.BadRequestError as error:
        seen["too long"] = error.body["error"]["type"]
    return seen


def anthropic_tools(url):
    client = anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key="none", max_retries=0)
    tool = {"name": "sound", "input_schema": {"type": "object", "properties": {"side": {"type": "string"}}}}
    ask = {"model": "tools/gpt-4o", "max_tokens": 50, "tools": [tool], "messages": MESSAGES[1:]}
    with client.messages.stream(**ask) as stream:
        streamed = stream.get_final_message().content[-1].input
    return {"input": client.messages.create(**ask).content[-1].input, "streamed": streamed}


def main():
    url = sys.argv[1] + "/v1"
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=300)
    by_client = (plain, planned, with_documents, streaming, tools, tools_in_a_stream, others, responses, errors)
    by_url = (in_parallel, langchain, langchain_tools, llamaindex, litellm_client, anthropic_client, anthropic_tools)
    seen = {}
    for what in by_client + by_url:
        if sys.argv[3:] and what.__name__ not in sys.argv[3:]:
            continue
        try:
            seen[what.__name__] = what(client if what in by_client else url)
        except Exception:  # noqa: BLE001  told to the test as what this client saw
            seen[what.__name__] = {"raised": traceback.format_exc()}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
