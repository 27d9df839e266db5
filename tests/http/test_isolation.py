"""Two keys see nothing of each other, on any route that the server lists; and no secret is told where it does not belong.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import json
import time
import unittest
import urllib.parse

from chat import form
from gateway import CHAT, Gateway, serving, user
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

HIDDEN = "The marlinspike lies under the binnacle"  # only in the documents of one
INDEX = "annslog"  # whose they are
NOWHERE = "nolog77"  # as long as that, and nobody's


def mcp(tool, **arguments):
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def ways(index):
    """For each route that `GET /` lists: paths and bodies that try to get at an index."""
    chat = {"model": "gpt-4o", "messages": user("Where is the marlinspike?")}
    inside, virtual = chat | {"index_name": index}, chat | {"model": f"gpt-4o+{index}"}
    texts = {"documents": [{"text": "Mine.", "doc_id": "x", "metadata": {}}]}
    return {
        "POST /v1/chat/completions": [(CHAT, inside), (CHAT, virtual), (CHAT, chat | {"plimsoll": {"memory": True, "session": f"{index}-talk"}}), (CHAT, inside | {"stream": True})],
        "POST /v1/completions": [("/v1/completions", {"model": f"gpt-4o+{index}", "prompt": "Ahoy!"})],
        "POST /v1/responses": [("/v1/responses", {"model": f"gpt-4o+{index}", "input": "Ahoy!"}),
                               ("/v1/responses", {"model": "gpt-4o", "input": "Ahoy!", "previous_response_id": "RESPONSE"})],
        "GET /v1/responses/{id...}": [("/v1/responses/RESPONSE", None), ("/v1/responses/RESPONSE/input_items", None)],
        "DELETE /v1/responses/{id...}": [("/v1/responses/RESPONSE", None)],
        "POST /v1/messages": [("/v1/messages", {"model": f"gpt-4o+{index}", "max_tokens": 9, "messages": user("Ahoy!")})],
        "POST /v1/messages/count_tokens": [("/v1/messages/count_tokens", {"model": f"gpt-4o+{index}", "messages": user("Ahoy!")})],
        "POST /v1/embeddings": [("/v1/embeddings", {"model": "gpt-4o", "input": "marlinspike"})],
        "GET /v1/models": [("/v1/models", None)],
        "GET /v1/models/{model...}": [(f"/v1/models/gpt-4o+{index}", None)],
        "POST /v1/plan": [("/v1/plan", inside), ("/v1/plan?render=true", inside), ("/v1/plan", virtual)],
        "POST /v1/count": [("/v1/count", {"model": "gpt-4o", "text": "Ahoy!"})],
        "POST /v1/strategy": [("/v1/strategy", {"query": "Where is the marlinspike?"})],
        "POST /api/chat": [("/api/chat", virtual | {"stream": False}), ("/api/chat", virtual)],
        "POST /api/generate": [("/api/generate", {"model": f"gpt-4o+{index}", "prompt": "Where is it?"})],
        "POST /api/embed": [("/api/embed", {"model": "gpt-4o", "input": "marlinspike"})],
        "POST /api/embeddings": [("/api/embeddings", {"model": "gpt-4o", "prompt": "marlinspike"})],
        "GET /api/tags": [("/api/tags", None)],
        "GET /api/ps": [("/api/ps", None)],
        "POST /api/show": [("/api/show", {"model": f"gpt-4o+{index}"})],
        "GET /api/version": [("/api/version", None)],
        "POST /api/{other...}": [("/api/delete", {"model": f"gpt-4o+{index}"})],
        "POST /v1/memories": [("/v1/memories", {"text": f"Mine, of {index}."})],
        "GET /v1/memories": [("/v1/memories", None), ("/v1/memories?query=marlinspike+binnacle", None),
                             (f"/v1/memories?session={index}-talk", None)],
        "GET /v1/memories/{id}": [("/v1/memories/MEMORY", None)],
        "POST /v1/memories/{id}/feedback": [("/v1/memories/MEMORY/feedback", {"helpful": False})],
        "DELETE /v1/memories/{id}": [("/v1/memories/MEMORY", None)],
        "GET /v1/traces": [("/v1/traces", None), ("/v1/traces?session=anns-session", None)],
        "GET /v1/traces/stream": [("/v1/traces/stream", None)],
        "GET /v1/traces/{id}": [("/v1/traces/TRACE", None)],
        "GET /v1/account": [("/v1/account", None)],
        "GET /v1/usage": [("/v1/usage", None), ("/v1/usage?by=model", None), ("/v1/usage?by=section", None)],
        "GET /v1/indexes": [("/v1/indexes", None)],
        "GET /v1/indexes/{name}/documents": [(f"/v1/indexes/{index}/documents", None)],
        "GET /v1/indexes/{name}/names": [(f"/v1/indexes/{index}/names", None), (f"/v1/indexes/{index}/names?entity=KNOWN", None)],
        "GET /v1/indexes/{name}/text": [(f"/v1/indexes/{index}/text?document=KNOWN", None)],
        "POST /v1/search": [("/v1/search", {"index": index, "query": "marlinspike"})],
        "GET /console/{file...}": [("/console/index.html", None)],
        "POST /mcp": [("/mcp", mcp("search_documents", index=index, query="marlinspike")),
                      ("/mcp", mcp("search_memories", query="Where is the marlinspike?")),
                      ("/mcp", mcp("search_memories", query="Where is the marlinspike?", session=f"{index}-talk")),
                      ("/mcp", mcp("memory_feedback", id="MEMORY", helpful=False)),
                      ("/mcp", mcp("forget_memory", id="MEMORY")),
                      ("/mcp", mcp("context_strategy", query="Where is the marlinspike?")),
                      ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})],
        "POST /admin/models/refresh": [("/admin/models/refresh", {})],
        "GET /health": [("/health", None)],
        "GET /ready": [("/ready", None)],
        "GET /metrics": [("/metrics", None)],
        "GET /openapi.json": [("/openapi.json", None)],
        "GET /": [("/", None)],
        "GET /indexes": [("/indexes", None)],
        "GET /indexes/{name}/documents": [(f"/indexes/{index}/documents", None),
                                        (f"/indexes/{index}/documents?max_text_length=1000&limit=100", None)],
        "POST /retrieve": [("/retrieve", {"index_name": index, "query": "marlinspike"})],
        "POST /indexes/{name}/documents": [(f"/indexes/{index}/documents", texts)],
        "POST /indexes/{name}/documents/delete": [(f"/indexes/{index}/documents/delete", {"doc_ids": ["KNOWN"]})],
        "POST /persist/{name}": [(f"/persist/{index}", {})],
        "POST /load/{name}": [(f"/load/{index}", {}), (f"/load/{index}?overwrite=true", {}),
                            (f"/load/mine?path={index}", {}), (f"/load/mine?path=.keys/OWNER/{index}", {}),
                            (f"/load/mine?path=../OWNER/{index}", {})],
        "GET /chat/sessions": [("/chat/sessions", None)],
        "GET /chat/sessions/{id}": [(f"/chat/sessions/{index}-talk", None)],
        "DELETE /chat/sessions/{id}": [(f"/chat/sessions/{index}-talk", None)],
        "GET /evaluation/runs": [("/evaluation/runs", None)],
        "GET /evaluation/runs/{id}": [("/evaluation/runs/RUN", None)],
        "GET /jobs/{id}": [("/jobs/JOB", None)],
        "POST /search": [("/search", {"query": "marlinspike", "collection_id": index, "model_name": "gpt-4o"})],
        "POST /chat/message": [("/chat/message", {"message": "Where is the marlinspike?", "collection_id": index,
                                                  "model_name": "gpt-4o", "session_id": f"{index}-talk"})],
        "POST /evaluation/plugin/start-with-questions": [
            ("/evaluation/plugin/start-with-questions",
             {"collection_id": index, "questions": ["Where is the marlinspike?"], "llm_model": "gpt-4o"})],
        "POST /documents": [("/documents", {"collection_id": index})],
        "DELETE /indexes/{name}": [(f"/indexes/{index}", None)],
        "POST /index": [("/index", texts | {"index_name": index})],
    }


def method_of(route):
    """What watches does not end; test_console.py watches with two keys."""
    return "HEAD" if route.endswith("/stream") else route.split(" ")[0]


class Isolation(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192}))
        self.gateway = Gateway(self.upstream)
        self.addCleanup(self.gateway.close)
        self.keys = {"ann": add_key(self.gateway, "ann", "--private-indexes"),
                     "bob": add_key(self.gateway, "bob", "--private-indexes"), "eve": add_key(self.gateway, "eve")}
        wait_for(lambda: self.ask("ann", "/indexes").status == 200 and self.gateway.ask("/indexes").status == 401,
                 "the gateway to ask for keys")
        owners = {one["name"]: one["id"] for one in json.loads(self.gateway.run("keys", "list", "--json"))}
        made = self.ask("ann", "/index", {"index_name": INDEX, "documents": [{"text": HIDDEN + "."}]})
        self.assertEqual(made.status, 200, made.body)
        kept = [self.ask("ann", "/v1/memories", {"text": HIDDEN + " still.", "importance": 0.9, "session": session})
                for session in (f"{INDEX}-talk", None)]
        self.assertEqual([one.status for one in kept], [201, 201], kept[0].body)
        self.places = {"KNOWN": made.json[0]["doc_id"], "OWNER": owners["ann"], "MEMORY": kept[0].json["id"]} | self.talk()
        self.assertEqual(self.ask("ann", f"/persist/{INDEX}", {}).status, 200)
        answer = self.ask("ann", CHAT, {"model": "gpt-4o", "messages": user("Where is the marlinspike?"), "index_name": INDEX,
                                        "plimsoll": {"session": "anns-session"}})
        self.assertIn(HIDDEN, answer.body.decode())
        self.trace = self.places["TRACE"] = answer.headers["x-plimsoll-trace"]

    def talk(self):
        """Ann's conversation, evaluation and upload."""
        said = self.ask("ann", "/chat/message", {"message": "Where is the marlinspike?", "collection_id": INDEX,
                                                 "model_name": "gpt-4o", "session_id": f"{INDEX}-talk"})
        self.assertEqual(said.status, 200, said.body)
        run = self.ask("ann", "/evaluation/plugin/start-with-questions",
                       {"collection_id": INDEX, "questions": ["Where is the marlinspike?"], "llm_model": "gpt-4o"})
        content_type, body = form(("collection_id", INDEX + "2"), ("file", "log.txt", HIDDEN))
        job = self.gateway.ask("/documents?wait=true", body, headers=bearer(self.keys["ann"]) | {"Content-Type": content_type})
        self.assertLess(job.status, 300, job.body)
        response = self.ask("ann", "/v1/responses", {"model": "gpt-4o", "input": HIDDEN})
        self.assertEqual(response.status, 200, response.body)
        return {"RUN": run.json["run_id"], "JOB": job.json["job_id"], "RESPONSE": response.json["id"]}

    def ask(self, who, path, body=None, method=None):
        headers = bearer(self.keys[who]) if who else {}
        return self.gateway.ask(path, body, method=method, headers=headers)

    def try_all(self, who, index):
        """What came of every way, by what was asked. Whatever it is, it has nothing of Ann's."""
        routes = self.gateway.ask("/").json["routes"]
        known = ways(index)
        self.assertEqual(set(routes), set(known), "a route that this test does not know is a route that nobody has tried")
        self.upstream.clear()
        outcome = {}
        for route in sorted(routes, key=list(known).index):  # what makes an index comes last
            for path, body in known[route]:
                filled = json.dumps([path, body])
                for place, value in self.places.items():
                    filled = filled.replace(place, value)
                path, body = json.loads(filled)
                reply = self.ask(who, path, body, method=method_of(route))
                told = reply.body.decode() + json.dumps(reply.headers)
                with self.subTest(who=who, path=path):
                    self.assertLess(reply.status, 502, told)
                    for mark in (HIDDEN, "binnacle", self.trace, "anns-session"):
                        if mark not in path:
                            self.assertNotIn(mark, told)
                    if index != INDEX and INDEX not in path:
                        self.assertNotIn(INDEX, told)
                outcome[f"{path} {body}".replace(index, "*")] = reply.status
        for request in self.upstream.requests:
            self.assertNotIn(b"binnacle", request.body)
        return outcome

    def test_no_route_tells_one_key_of_anothers(self):
        for who in ("bob", "eve"):
            self.assertEqual(self.try_all(who, NOWHERE), self.try_all(who, INDEX))  # as if there were none

    def test_what_one_key_has_survives_the_others(self):
        for who in ("bob", "eve"):
            self.try_all(who, INDEX)
        listed = self.ask("ann", f"/indexes/{INDEX}/documents").json
        self.assertEqual([one["text"] for one in listed["documents"]], [HIDDEN + "."])
        self.assertEqual(self.ask("ann", "/indexes").json, [INDEX, INDEX + "2"])
        self.assertEqual(len(self.ask("ann", f"/chat/sessions/{INDEX}-talk").json["turns"]), 2)
        memories = self.ask("ann", "/v1/memories").json["data"]
        self.assertEqual([(one["text"], one["trust"]) for one in memories], [(HIDDEN + " still.", 0.5)] * 2)
        self.assertEqual([one["text"] for one in self.ask("bob", "/v1/memories").json["data"]], [f"Mine, of {INDEX}."])
        self.assertEqual(self.ask("bob", "/indexes").json, [INDEX])  # of the same name, and Bob's
        self.assertEqual([one["text"] for one in self.ask("bob", f"/indexes/{INDEX}/documents").json["documents"]], ["Mine."])
        self.assertEqual(self.ask("ann", f"/load/{INDEX}?overwrite=true", {}).status, 200)
        self.assertIn(HIDDEN, self.ask("ann", "/retrieve", {"index_name": INDEX, "query": "marlinspike"}).body.decode())
        # Keys that share have what `plimsoll index` makes.
        shared = json.loads(self.gateway.run("index", "list", "--json"))
        self.assertEqual([(one["name"], one["documents"]) for one in shared], [(INDEX, 1)])

    def test_who_has_no_key_gets_in_nowhere(self):
        for route, asked in ways(INDEX).items():
            for path, body in asked:
                with self.subTest(route=route):
                    reply = self.ask(None, path, body, method=method_of(route))
                    self.assertEqual(reply.status, 200 if path in ("/", "/console/index.html", "/health", "/ready") else 401)


class Addresses(unittest.TestCase):
    """Clients learn no address of a server: not from answers, reports and errors, and not of servers without a name, which are
    named after their addresses."""

    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192}))
        with Upstream({"lost": 8192}) as lost:
            self.gateway = Gateway(self.upstream, lost, llm_fallback_enabled=True, llm_allowed_fallback_models="gpt-4o")
            self.addCleanup(self.gateway.close)
            self.assertEqual({one["id"] for one in self.gateway.ask("/v1/models").json["data"]} & {"gpt-4o", "lost"}, {"gpt-4o", "lost"})
        self.addresses = [f"127.0.0.1:{server.url.rsplit(':', 1)[1].split('/')[0]}" for server in (self.upstream, lost)]
        self.told = 0

    def ask(self, path, body=None, method=None, headers=None):
        reply = self.gateway.ask(path, body, method=method, headers=headers)
        text = reply.body.decode() + json.dumps(reply.headers)
        self.told += 1
        for address in self.addresses:
            self.assertNotIn(address, text, path)
        return reply

    def test_no_route_tells_one(self):
        index, places = "log", {}
        made = self.ask("/index", {"index_name": index, "documents": [{"text": HIDDEN + "."}]})
        places["KNOWN"], places["OWNER"] = made.json[0]["doc_id"], "local"
        places["MEMORY"] = self.ask("/v1/memories", {"text": HIDDEN}).json["id"]
        explained = {"plimsoll": {"explain": True, "memory": True, "session": f"{index}-talk"}}
        for model in ("gpt-4o", "lost"):
            for stream in (False, True):
                for path, body in ((CHAT, {"messages": user("Where is it?"), "index_name": index} | explained),
                                   (CHAT, {"messages": user("Where is it?"), "plimsoll": {"fallback": False}}),
                                   ("/v1/completions", {"prompt": "Ahoy!", "max_tokens": 9}), ("/v1/responses", {"input": "Ahoy!"}),
                                   ("/v1/messages", {"messages": user("Ahoy!"), "max_tokens": 9}), ("/api/chat", {"messages": user("Ahoy!")}),
                                   ("/api/generate", {"prompt": "Ahoy!"})):
                    self.ask(path, {"model": model, "stream": stream} | body)
            for path in ("/v1/embeddings", "/api/embed"):
                self.ask(path, {"model": model, "input": "Ahoy!"})
            self.ask("/chat/message", {"message": "Where is it?", "collection_id": index, "model_name": model, "session_id": f"{index}-talk"})
            self.ask("/v1/plan?render=true", {"model": model, "messages": user("Ahoy!")})
            run = self.ask("/evaluation/plugin/start-with-questions", {"collection_id": index, "questions": ["Where is it?"], "llm_model": model})
            places["RUN"] = run.json["run_id"]
            wait_for(lambda: self.ask(f"/evaluation/runs/{places['RUN']}").json["status"] != "running", "the evaluation")
            one, = self.ask(f"/evaluation/runs/{places['RUN']}").json["results"]
            self.assertTrue(one["answer"] or "upstream" in one["error"], one)
        content_type, body = form(("collection_id", index), ("file", "log.txt", HIDDEN))
        places["JOB"] = self.ask("/documents?wait=true", body, headers={"Content-Type": content_type}).json["job_id"]
        places["RESPONSE"] = self.ask("/v1/responses", {"model": "gpt-4o", "input": "Ahoy!"}).json["id"]
        answer = self.ask(CHAT, {"model": "gpt-4o", "messages": user("Where is it?"), "index_name": index})
        self.assertEqual(answer.ours["upstream"], "upstream-1")
        places["TRACE"] = answer.headers["x-plimsoll-trace"]
        wait_for(lambda: self.gateway.ask(f"/v1/traces/{places['TRACE']}").status == 200, "the trace")
        known = ways(index)
        routes = self.gateway.ask("/").json["routes"]
        for route in sorted(routes, key=list(known).index):
            for path, body in known[route]:
                filled = json.dumps([path, body])
                for place, value in places.items():
                    filled = filled.replace(place, value)
                self.ask(*json.loads(filled), method=method_of(route))
        for model in ("gpt-4o", "lost"):
            self.ask("/mcp", mcp("model_window", model=model))
            self.ask("/mcp", mcp("plan_context", request={"model": model, "messages": user("Ahoy!")}))
        self.assertGreater(self.told, 100)

    def test_an_upload_whose_embedder_is_gone_tells_none(self):
        with serving(self.upstream, embedders="ollama:minnow", ollama_llm_base_url=f"http://{self.addresses[1]}") as gateway:
            content_type, body = form(("collection_id", "log"), ("file", "log.txt", HIDDEN))
            job = gateway.ask("/documents?wait=true", body, headers={"Content-Type": content_type})
            told = gateway.ask(f"/jobs/{job.json['job_id']}")
            self.assertEqual(told.json["status"], "failed", told.body)
            self.assertIn("the server of ollama_llm_base_url", told.json["errors"][0]["error"])
            for reply in (job, told):
                self.assertNotIn(self.addresses[1], reply.body.decode())


class Secrets(unittest.TestCase):
    """What is planted in keys, headers and prompts is found nowhere that it does not belong."""

    PLANTED = {"prompt": "planted-prompt-quarterdeck-7731", "header": "planted-header-forecastle-9921",
               "document": "planted-document-orlop-4417", "wrong": "plk_planted-wrong-key-lazarette-88213"}

    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "status-500/gpt-4o": 8192, "parrot/gpt-4o": 8192,
                                                    "overflow-openai/gpt-4o": 8192, "half-chunk/gpt-4o": 8192}))
        self.gateway = Gateway(f"openai={self.upstream.url}", log_level="trace", environment={"OPENAI_API_KEY": "planted-upstream-key"})
        self.addCleanup(self.gateway.close)
        self.secret = add_key(self.gateway, "ann", "--requests-per-minute", 100_000)
        wait_for(lambda: self.gateway.ask("/indexes").status == 401, "the gateway to ask for keys")

    def headers(self):
        return bearer(self.secret) | {"Cookie": self.PLANTED["header"], "X-Own": self.PLANTED["header"],
                                      "User-Agent": self.PLANTED["header"], "Proxy-Authorization": self.PLANTED["header"]}

    def provoke(self):
        """Good and bad requests; the bodies of the errors that came of them."""
        prompt, errors = self.PLANTED["prompt"], []
        bodies = [{"model": model, "messages": user(prompt), "stream": stream, "plimsoll": {"memories": [
            {"id": "m", "text": prompt, "importance": 0.9}]}} for model in self.upstream.models for stream in (False, True)]
        bodies += [{"model": "nobody-has-it", "messages": user(prompt)}, {"model": "gpt-4o", "messages": user(prompt * 2000)},
                   {"model": "gpt-4o", "messages": user(prompt), "index_name": "nowhere"},
                   {"model": "gpt-4o", "messages": [{"role": "tool", "content": prompt}]}, f'{{"model": "gpt-4o", "x": "{prompt}']
        for path in (CHAT, "/api/chat", "/v1/plan", "/v1/completions", "/v1/responses", "/index", "/retrieve", "/mcp"):
            for body in bodies:
                reply = self.gateway.ask(path, body, headers=self.headers())
                if reply.status >= 400 and "parrot" not in str(body):  # that one is the upstream's word to its client
                    errors.append(reply.body.decode())
        made = self.gateway.ask("/index", {"index_name": "i", "documents": [{"text": self.PLANTED["document"]}]},
                                headers=self.headers())
        self.assertEqual(made.status, 200)
        self.gateway.ask(CHAT, {"model": "gpt-4o", "messages": user(self.PLANTED["document"]), "index_name": "i"},
                         headers=self.headers())
        for headers in (bearer(self.PLANTED["wrong"]), {"X-API-Key": self.PLANTED["wrong"]}, {"api-key": self.PLANTED["wrong"]},
                        {"Authorization": f"Basic {self.PLANTED['wrong']}"}):
            errors.append(self.gateway.ask(CHAT, bodies[0], headers=headers).body.decode())
        return errors

    def test_none_is_found_where_it_does_not_belong(self):
        errors = self.provoke()
        self.assertGreater(len(errors), 30)
        time.sleep(0.5)  # traces are written a moment after the answer
        wait_for(lambda: self.gateway.run("inspect", "--json"), "traces")
        kept = self.gateway.run("inspect", "--json", "--limit", 1000) + self.gateway.run("usage", "--json")
        metrics = self.gateway.ask("/metrics", headers=self.headers()).body.decode()
        self.gateway.stop()
        places = {"log": self.gateway.logged(), "traces": kept, "metrics": metrics}
        self.assertGreater(len(kept.splitlines()), 10)
        for name, text in places.items():
            for planted in [*self.PLANTED.values(), self.secret, "planted-upstream-key"]:
                self.assertNotIn(planted, text, f"{planted} is in the {name}")
                self.assertNotIn(urllib.parse.quote(planted), text)
        for error in errors:
            for planted in (self.secret, self.PLANTED["header"], self.PLANTED["wrong"], "planted-upstream-key"):
                self.assertNotIn(planted, error)
        for file in self.gateway.folder.rglob("*"):
            if file.is_file():
                data = file.read_bytes()
                for planted in (self.secret, self.PLANTED["wrong"], self.PLANTED["header"], self.PLANTED["prompt"]):
                    self.assertNotIn(planted.encode(), data, f"{planted} is in {file.name}")
        self.assertEqual({request.headers.get("authorization") for request in self.upstream.to()}, {"Bearer planted-upstream-key"})
        for request in self.upstream.requests:
            for planted in (self.secret, self.PLANTED["header"], self.PLANTED["wrong"]):
                self.assertNotIn(planted, json.dumps(request.headers))
        self.gateway.start()


if __name__ == "__main__":
    unittest.main()
