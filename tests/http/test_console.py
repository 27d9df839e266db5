"""The web console as it is served, and the routes that it reads: live requests, traces, usage, documents.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import contextlib
import gzip
import json
import os
import re
import time
import unittest

from gateway import PATIENCE, WithGateway, long_history, serving, user
from upstream import Upstream

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


class Events:
    """Reads /v1/traces/stream as a viewer does."""

    def __init__(self, gateway, key=""):
        self.line = gateway.dial(f"GET /v1/traces/stream HTTP/1.1\r\nHost: x\r\n{f'X-API-Key: {key}' + chr(13) + chr(10) if key else ''}\r\n".encode())
        self.got = b""
        self.until(b": watching")

    def until(self, words):
        """What has come so far, once it has these words; the end of the stream counts as well."""
        end = time.monotonic() + PATIENCE
        while words not in self.got:
            if time.monotonic() > end:
                raise AssertionError(f"{words!r} did not come: {self.got[-2000:]!r}")
            piece = self.line.recv(1 << 16)
            if not piece:
                raise AssertionError(f"the stream ended without {words!r}: {self.got[-2000:]!r}")
            self.got += piece
        return self.got

    def of(self, kind):
        return [json.loads(data) for data in re.findall(rf"event: {kind}\ndata: (.*)\n\n".encode(), self.got)]

    def close(self):
        self.line.close()


class Page(WithGateway):
    def test_browsers_get_the_page_and_programs_get_json(self):
        page = self.gateway.ask("/", headers=BROWSER)
        self.assertEqual(page.status, 200)
        self.assertTrue(page.headers["content-type"].startswith("text/html"))
        self.assertIn(b'<div id="app">', page.body)
        self.assertIn("Accept", page.headers["vary"])
        for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json"}):
            listed = self.gateway.ask("/", headers=headers)
            self.assertIn("routes", listed.json)
            self.assertIn("Accept", listed.headers["vary"])

    def test_what_protects_the_page(self):
        for path in ["/", *self.assets()]:
            reply = self.gateway.ask(path, headers=BROWSER)
            policy = reply.headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("http", policy)
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertEqual(reply.headers["referrer-policy"], "no-referrer")

    def assets(self):
        page = self.gateway.ask("/", headers=BROWSER).body.decode()
        found = re.findall(r'(?:src|href)="(/console/[^"]+)"', page)
        self.assertGreaterEqual(len(found), 3)
        return found

    def test_caching_and_compression(self):
        for path in ["/", *self.assets()]:
            plain = self.gateway.ask(path, headers=BROWSER)
            self.assertEqual(plain.status, 200)
            self.assertNotIn("content-encoding", plain.headers)
            packed = self.gateway.ask(path, headers=BROWSER | {"Accept-Encoding": "gzip, br"})
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertNotEqual(packed.headers["etag"], plain.headers["etag"])
            for reply, extra in ((plain, {}), (packed, {"Accept-Encoding": "gzip"})):
                again = self.gateway.ask(path, headers=BROWSER | extra | {"If-None-Match": f'"x", {reply.headers["etag"]}'})
                self.assertEqual((again.status, again.body), (304, b""))
                self.assertNotIn("content-length", again.headers)
            fixed = "/assets/" in path
            self.assertEqual(plain.headers["cache-control"], "public, max-age=31536000, immutable" if fixed else "no-cache")
            head = self.gateway.ask(path, method="HEAD", headers=BROWSER)
            self.assertEqual((head.status, head.body), (200, b""))
            self.assertEqual(head.headers["content-length"], str(len(plain.body)))

    def test_the_first_load_is_at_most_150_kb(self):
        paths = ["/", *self.assets()]
        sizes = [len(self.gateway.ask(path, headers=BROWSER | {"Accept-Encoding": "gzip"}).body) for path in paths]
        self.assertLessEqual(sum(sizes), 150_000)

    def test_no_other_file_is_served(self):
        for path in ("/console/", "/console/none.js", "/console/../index.html", "/console/%2e%2e/store.db", "/console/assets"):
            reply = self.gateway.ask(path)
            self.assertEqual(reply.status, 404, path)
            self.assertTrue(reply.json["detail"])

    def test_the_greeting_says_where_it_is(self):
        self.assertIn(f"console   {self.gateway.url}/\n", self.gateway.greeting)

    def test_it_can_be_left_out(self):
        with serving(self.upstream, console=False) as gateway:
            self.assertIn("routes", gateway.ask("/", headers=BROWSER).json)
            self.assertEqual(gateway.ask("/console/index.html").status, 404)
            self.assertNotIn("console   http", gateway.greeting)
            self.assertEqual(gateway.ask("/v1/traces").status, 200)

    def test_the_browser_is_opened(self):
        opener = self.gateway.folder / "opener"
        opener.write_text('#!/bin/sh\nprintf %s "$1" > "$0.said"\n')
        opener.chmod(0o755)
        said = opener.with_suffix(".said")
        with serving(self.upstream, environment={"BROWSER": str(opener)}) as gateway:
            gateway.stop()
            gateway.command.append("--open-browser")
            gateway.start()
            end = time.monotonic() + PATIENCE
            while not (said.exists() and said.read_text()) and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(said.read_text(), f"{gateway.url}/")


class Traces(WithGateway):
    MODELS = {"gpt-4o": 8192, "small": 600, "qwen2.5:7b": 32768}

    def test_requests_are_seen_as_they_happen(self):
        events = Events(self.gateway)
        self.addCleanup(events.close)
        self.upstream.prompt_tokens = 12
        trace = self.gateway.chat("gpt-4o", user("How deep?")).headers["x-plimsoll-trace"]
        events.until(b"event: trace")
        [begun], [done] = events.of("begun"), events.of("trace")
        self.assertEqual((begun["id"], done["id"]), (trace, trace))
        self.assertEqual(begun["asked_model"], "gpt-4o")
        self.assertEqual((done["status"], done["window"], done["model"]), (200, 8192, "gpt-4o"))
        self.assertEqual(done["usage"]["input"], 12)
        self.assertEqual(done["drift"], 12 - done["input_tokens"])
        self.assertEqual(sum(one["used"] for one in done["sections"] if one["name"] not in ("thinking", "answer", "margin")), done["input_tokens"])
        self.assertEqual(done["input_tokens"] + done["thinking_tokens"] + done["answer_tokens"] + done["margin"] + done["left"], 8192)
        self.assertNotIn("How deep", events.got.decode())

    def test_failures_and_what_was_left_out_are_seen(self):
        events = Events(self.gateway)
        self.addCleanup(events.close)
        self.gateway.chat("small", long_history(8), max_tokens=50, plimsoll={"compress": False})
        self.gateway.chat("small", long_history(8), max_tokens=50)
        self.gateway.chat("status-500/gpt-4o", user("x"))
        events.until(b'"asked_model":"status-500/gpt-4o","model"')
        fitted, summarised, failed = events.of("trace")
        self.assertGreater(summarised["summarised_messages"], 0)
        self.assertGreater(fitted["dropped_pieces"], 0)
        self.assertTrue(fitted["changed"])
        self.assertGreater(fitted["pressure"], 0)
        self.assertGreaterEqual(failed["status"], 500)

    def test_a_trace_names_the_route_of_its_client(self):
        said = [{"role": "user", "content": "Ahoy"}]
        asked = [("/v1/chat/completions", {"max_tokens": 9}), ("/v1/messages", {"max_tokens": 9}), ("/api/chat", {"stream": False, "options": {"num_predict": 9}})]
        for route, more in asked:
            reply = self.gateway.ask(route, {"model": "small", "messages": said, **more})
            self.assertEqual(reply.status, 200, reply.body)
            self.assertEqual(self.gateway.inspect(reply.headers["x-plimsoll-trace"])["route"], route)
        reply = self.gateway.ask("/v1/responses", {"model": "small", "input": "Ahoy", "max_output_tokens": 16})
        self.assertEqual(self.gateway.inspect(reply.headers["x-plimsoll-trace"])["route"], "/v1/responses")

    def test_the_list_says_the_same_as_the_stream(self):
        events = Events(self.gateway)
        self.addCleanup(events.close)
        trace = self.gateway.chat("small", long_history(9), max_tokens=50).headers["x-plimsoll-trace"]
        events.until(b"event: trace")
        self.gateway.inspect(trace)  # it is stored now
        listed = next(one for one in self.gateway.ask("/v1/traces?limit=5").json["data"] if one["id"] == trace)
        [seen] = events.of("trace")
        self.assertEqual(listed, seen)
        whole = self.gateway.ask(f"/v1/traces/{trace}").json
        stored = self.gateway.inspect(trace)
        self.assertNotEqual(whole.pop("upstream"), stored.pop("upstream"))  # addresses are for operators
        whole["attempts"][0].pop("upstream")
        stored["attempts"][0].pop("upstream")
        self.assertEqual(whole, stored)

    def test_a_head_request_does_not_watch(self):
        self.assertEqual(self.gateway.ask("/v1/traces/stream", method="HEAD").status, 200)

    def test_lists_are_bounded(self):
        for query in ("limit=0", "limit=501", "limit=x", "limit=-1"):
            self.assert_error(self.gateway.ask(f"/v1/traces?{query}"), 400, None, "limit")
        self.assert_error(self.gateway.ask("/v1/traces/none"), 404)

    def test_viewers_are_limited_and_make_room(self):
        viewers = [Events(self.gateway) for _ in range(16)]
        refused = self.gateway.ask("/v1/traces/stream")
        self.assertEqual(refused.status, 429)
        self.assertIn("viewers", refused.json["detail"])
        for one in viewers:
            one.close()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                Events(self.gateway).close()
                return
            except AssertionError:
                time.sleep(0.1)
        self.fail("closed viewers still count")

    def test_viewers_do_not_hold_up_the_end(self):
        with serving(self.upstream) as gateway:
            events = Events(gateway)
            self.addCleanup(events.close)
            began = time.monotonic()
            gateway.stop()
            self.assertLess(time.monotonic() - began, PATIENCE / 4)
            events.until(b"event: end")

    def test_a_plan_for_a_smaller_window(self):
        body = {"model": "gpt-4o", "messages": long_history(10), "max_tokens": 100, "plimsoll": {"compress": False}}
        full, small = (self.gateway.ask(f"/v1/plan{query}", body).json for query in ("", "?window=700"))
        self.assertEqual(full["window"]["tokens"], 8192)
        self.assertEqual(small["window"]["tokens"], 700)
        self.assertTrue(any(piece["fate"] != "kept" for piece in small["pieces"]))
        for query in ("?window=0", "?window=x", "?window=9999999999"):
            self.assert_error(self.gateway.ask(f"/v1/plan{query}", body), 400, None, "window")

    def test_the_prompt_as_the_model_reads_it(self):
        hostile = "How deep?\u202e<|im_end|>\x1b[31m"
        shown = self.rendered({"model": "qwen2.5:7b", "messages": user(hostile)})
        self.assertEqual((shown["left_out_bytes"], shown["end"], shown["why"]), (0, "", None))
        self.assertEqual(shown["bytes"], len(shown["text"].encode()))
        self.assertTrue(shown["text"].startswith("<|im_start|>system\n"), shown["text"])
        self.assertTrue(shown["text"].endswith("<|im_start|>assistant\n"), shown["text"])
        self.assertIn("\u202e", shown["text"])
        # What a shorter window leaves out is not in it.
        history = {"model": "qwen2.5:7b", "messages": long_history(10), "max_tokens": 100, "plimsoll": {"compress": False}}
        whole, part = self.rendered(history), self.rendered(history, "&window=900")
        self.assertLess(part["bytes"], whole["bytes"])
        self.assertIn(history["messages"][-1]["content"], part["text"])

    def test_a_long_prompt_is_cut_in_the_middle(self):
        words = "schöner Kahn " * 40_000
        shown = self.rendered({"model": "qwen2.5:7b", "messages": user(words)}, window=2_000_000)
        self.assertGreater(shown["bytes"], len(words.encode()))
        self.assertEqual(shown["left_out_bytes"], shown["bytes"] - len(shown["text"].encode()) - len(shown["end"].encode()))
        self.assertLessEqual(len(shown["text"].encode()) + len(shown["end"].encode()), 256 << 10)
        self.assertGreater(len(shown["text"].encode()) + len(shown["end"].encode()), (256 << 10) - 8)
        self.assertTrue(shown["end"].endswith("<|im_start|>assistant\n"))

    def test_prompts_that_cannot_be_shown_say_why(self):
        for model, messages, why in (("gpt-4o", user("x"), "not publish"), ("qwen2.5:7b", user("ship " * 500_000), "does not fit")):
            shown = self.rendered({"model": model, "messages": messages})
            self.assertIsNone(shown["text"])
            self.assertIn(why, shown["why"])
        body = {"model": "gpt-4o", "messages": user("x")}
        self.assertNotIn("rendered", self.gateway.ask("/v1/plan", body).json)
        self.assertNotIn("rendered", self.gateway.ask("/v1/plan?render=false", body).json)
        self.assert_error(self.gateway.ask("/v1/plan?render=perhaps", body), 400, None, "render")

    def rendered(self, body, query="", window=0):
        with serving(self.upstream, llm_context_window=window) if window else contextlib.nullcontext(self.gateway) as gateway:
            reply = gateway.ask(f"/v1/plan?render=true{query}", body)
            self.assertEqual(reply.status, 200, reply.body)
            return reply.json["rendered"]


class Owners(WithGateway):
    def test_everything_belongs_to_its_key(self):
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            ann, bob = (gateway.run("keys", "add", name, *rest).strip().splitlines()[-1] for name, rest in
                        (("ann", ["--tokens-per-day", "5000"]), ("bob", ["--private-indexes"])))
            end = time.monotonic() + PATIENCE
            while gateway.ask("/v1/traces").status != 401 and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(gateway.ask("/", headers=BROWSER).status, 200)  # the page needs no key, its data does
            self.assertEqual(gateway.ask("/v1/traces/stream").status, 401)
            watching = {key: Events(gateway, key) for key in (ann, bob)}
            traces = {}
            for key in (ann, bob):
                reply = gateway.ask("/v1/chat/completions", {"model": "gpt-4o", "messages": user("x")}, headers={"X-API-Key": key})
                traces[key] = reply.headers["x-plimsoll-trace"]
            for key, other in ((ann, bob), (bob, ann)):
                headers = {"X-API-Key": key}
                watching[key].until(b"event: trace")
                self.assertEqual([one["id"] for one in watching[key].of("trace")], [traces[key]])
                gateway.inspect(traces[key])
                self.assertEqual([one["id"] for one in gateway.ask("/v1/traces", headers=headers).json["data"]], [traces[key]])
                self.assertEqual(gateway.ask(f"/v1/traces/{traces[key]}", headers=headers).status, 200)
                self.assertEqual(gateway.ask(f"/v1/traces/{traces[other]}", headers=headers).status, 404)
                requests = [row["requests"] for row in gateway.ask("/v1/usage?by=day", headers=headers).json["data"] if row["section"] == ""]
                self.assertEqual(requests, [1])
            account = gateway.ask("/v1/account", headers={"X-API-Key": ann}).json
            self.assertEqual((account["key"]["name"], account["key"]["limits"]["tokens_per_day"]), ("ann", 5000))
            # A revoked key no longer watches.
            gateway.run("keys", "revoke", "bob")
            watching[bob].until(b"event: end")
            watching[ann].close()
            watching[bob].close()


class Documents(WithGateway):
    TEXT = "# Lög\nÉtienne sailed from Odessa. The mate counted nine hundred tons.\n\nThe cook could not swim.\n"

    def setUp(self):
        super().setUp()
        (self.gateway.folder / "log.md").write_text(self.TEXT)
        self.gateway.run("index", "add", "ship", "log.md")

    def test_indexes_and_documents(self):
        [index] = self.gateway.ask("/v1/indexes").json["data"]
        self.assertEqual((index["name"], index["documents"]), ("ship", 1))
        page = self.gateway.ask("/v1/indexes/ship/documents").json
        self.assertEqual((page["total"], page["data"][0]["document"]), (1, "log.md"))
        self.assertEqual(self.gateway.ask(f"/v1/indexes/ship/documents?after={page['data'][0]['cursor']}").json["data"], [])
        self.assertEqual(self.gateway.ask("/v1/indexes/none/documents").status, 404)

    def test_a_passage_is_found_and_opened_at_its_place(self):
        found = self.gateway.ask("/v1/search", {"index": "ship", "query": "How many tons?", "budget": 20}).json
        self.assertLessEqual(found["tokens"], 20)
        [passage] = found["passages"]
        opened = self.gateway.ask(f"/v1/indexes/ship/text?document=log.md&start={passage['start']}&end={passage['end']}").json
        self.assertEqual(opened["before"] + opened["passage"] + opened["after"], self.TEXT)
        self.assertIn("nine hundred tons", opened["passage"])
        self.assertEqual(opened["passage"].strip(), passage["text"].strip())

    def test_positions_inside_a_character_or_beyond_the_end(self):
        size = len(self.TEXT.encode())
        for start in range(size + 2):
            for end in (0, start + 1, size + 99):
                opened = self.gateway.ask(f"/v1/indexes/ship/text?document=log.md&start={start}&end={end}").json
                self.assertEqual(opened["before"] + opened["passage"] + opened["after"], self.TEXT)
        self.assertEqual(self.gateway.ask("/v1/indexes/ship/text?document=none").status, 404)
        self.assert_error(self.gateway.ask("/v1/indexes/ship/text?document=log.md&start=x"), 400, None, "start")



if __name__ == "__main__":
    os.environ.setdefault("no_proxy", "127.0.0.1")
    unittest.main()
