"""Keys, limits, budgets, alerts, and who may listen where. What two keys see of each other is in test_isolation.py.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import concurrent.futures
import contextlib
import http.server
import json
import os
import re
import sqlite3
import subprocess
import threading
import time
import unittest

from gateway import CHAT, PATIENCE, PROGRAM, Gateway, http_request, read_all, serving, user
from upstream import Upstream

PAGE = "https://app.example"


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


def add_key(gateway, name, *options):
    return gateway.run("keys", "add", name, *options).strip()


def wait_for(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"in vain waited for: {what}")
        time.sleep(0.05)


class Hook:
    """`with Hook() as hook:` keeps what is posted to `hook.url`."""

    def __enter__(self):
        hook, self.got, self.stalls = self, [], threading.Event()
        self.stalls.set()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.stalls.wait(PATIENCE)
                hook.got.append(json.loads(body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?token=planted-webhook-token"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stalls.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)


class Keys(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "slow/gpt-4o": 8192}))
        self.upstream.prompt_tokens = 8  # what the question below comes to

    def start(self, **settings):
        gateway = Gateway(self.upstream, **settings)
        self.addCleanup(gateway.close)
        return gateway

    def chat(self, gateway, secret=None, model="gpt-4o", **fields):
        return gateway.ask(CHAT, {"model": model, "messages": user("Ahoy!")} | fields,
                           headers=bearer(secret) if secret else {})

    def closed(self, gateway):
        wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")

    def refused(self, reply, status, *words):
        self.assertEqual(reply.status, status, reply.body)
        body = reply.json
        self.assertEqual(body["detail"], body["error"]["message"])
        for word in words:
            self.assertIn(word, body["detail"])
        return body["error"]

    # ---- Who comes in ----

    def test_without_keys_any_key_will_do_and_none_goes_on(self):
        gateway = self.start()
        for headers in ({}, bearer("sk-x"), {"X-API-Key": "sk-y"}, {"api-key": "sk-z"}, {"Authorization": "Basic eDp5"}):
            reply = gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}, headers=headers)
            self.assertEqual(reply.status, 200)
            self.assertNotIn("x-ratelimit-limit-requests", reply.headers)
        for request in self.upstream.requests:
            self.assertEqual(set(request.headers) & {"authorization", "x-api-key", "api-key"}, set())

    def test_a_running_gateway_sees_keys_come_and_go(self):
        gateway = self.start()
        self.assertEqual(self.chat(gateway).status, 200)
        secret = add_key(gateway, "ann")
        self.assertRegex(secret, r"^plk_[A-Za-z0-9_-]{43}$")
        self.closed(gateway)
        self.assertEqual(self.chat(gateway, secret).status, 200)
        renewed = gateway.run("keys", "renew", "ann").strip()
        wait_for(lambda: self.chat(gateway, secret).status == 401, "the old secret to be refused")
        self.assertEqual(self.chat(gateway, renewed).status, 200)
        gateway.run("keys", "revoke", "ann")
        wait_for(lambda: self.chat(gateway, renewed).status == 401, "the key to be refused")
        self.refused(self.chat(gateway, renewed), 401, "revoked")
        self.assertEqual(self.chat(gateway).status, 401)  # no key is left, and it stays closed
        self.upstream.clear()
        self.assertEqual(gateway.ask("/health").status, 200)

    def test_who_has_no_key_gets_a_401_in_both_shapes(self):
        gateway = self.start()
        secret = add_key(gateway, "ann")
        self.closed(gateway)
        self.upstream.clear()
        wrong = [None, "sk-x", secret[:-1], secret + "x", secret.upper(), "plk_"]
        for path in (CHAT, "/v1/models", "/metrics", "/indexes", "/nowhere", "/v1/models/gpt-4o"):
            for key in wrong:
                with self.subTest(path=path, key=key):
                    body = {"model": "gpt-4o", "messages": user("Ahoy!")} if path == CHAT else None
                    reply = gateway.ask(path, body, headers=bearer(key) if key else {})
                    error = self.refused(reply, 401, "key")
                    self.assertEqual((error["code"], error["type"]), ("invalid_api_key", "authentication_error"))
                    self.assertEqual(reply.headers["www-authenticate"], "Bearer")
        ollama = gateway.ask("/api/chat", {"model": "gpt-4o", "messages": user("Ahoy!")})
        self.assertEqual((ollama.status, ollama.json["error"]), (401, ollama.json["detail"]))
        self.assertEqual(gateway.ask("/admin/models/refresh", b"", method="POST").status, 401)
        self.assertEqual(self.upstream.to(), [])
        for path in ("/health", "/ready", "/"):
            self.assertEqual(gateway.ask(path).status, 200)
        for headers in (bearer(secret), {"Authorization": f"bearer  {secret} "}, {"X-API-Key": secret}, {"api-key": secret},
                        {"Authorization": "Basic eDp5", "x-api-key": secret}):
            self.assertEqual(gateway.ask("/v1/models", headers=headers).status, 200)
        metrics = gateway.ask("/metrics", headers=bearer(secret)).body.decode()
        self.assertGreater(int(re.search(r"^plimsoll_unknown_key_requests_total (\d+)", metrics, re.M)[1]), 30)

    def test_who_has_no_key_is_told_before_the_body(self):
        gateway = self.start()
        secret = add_key(gateway, "ann")
        self.closed(gateway)

        def said_to(head, body=b""):
            """The status of the reply, after which the gateway has closed."""
            with gateway.dial(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode()) as line:
                with contextlib.suppress(OSError):  # it does not wait for long
                    line.sendall(body)
                return int(read_all(line).split(b" ")[1])

        large = "Content-Length: 30000000\r\n"
        self.assertEqual(said_to(large), 401)
        self.assertEqual(said_to(f"Authorization: Bearer {secret}x\r\n{large}"), 401)
        self.assertEqual(said_to(f"Expect: 100-continue\r\n{large}"), 401)
        self.assertEqual(said_to("Transfer-Encoding: chunked\r\n", b"5\r\nAhoy!\r\n"), 401)
        self.assertEqual(said_to(large, b" " * 20_000_000), 401)  # whose sender hears of it all the same
        with gateway.dial(f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n"
                          f"Expect: 100-continue\r\n{large}\r\n".encode()) as line:
            self.assertIn(b" 100 ", line.recv(65536))

    def test_the_command_line(self):
        gateway = self.start()
        self.assertIn("no keys", gateway.run("keys", "list"))
        secret = add_key(gateway, "ann", "--requests-per-minute", 60, "--private-indexes")
        add_key(gateway, "bob", "--tokens-per-day", 200_000)
        listed = {key["name"]: key for key in json.loads(gateway.run("keys", "list", "--json"))}
        self.assertEqual((listed["ann"]["requests_per_minute"], listed["ann"]["private_indexes"]), (60, True))
        self.assertEqual((listed["bob"]["tokens_per_day"], listed["bob"]["private_indexes"]), (200_000, False))
        gateway.run("keys", "limit", "ann", "--tokens-per-minute", 5, "--requests-per-minute", 0)
        gateway.run("keys", "revoke", "bob")
        table = gateway.run("keys", "list")
        self.assertRegex(table, r"ann\s+-\s+5\s+-\s+own\s+\S+\s+good")
        self.assertRegex(table, r"bob\s+-\s+-\s+200,000\s+shared\s+\S+\s+revoked")
        for wrong in (["add", "ann"], ["add", "bob"], ["add", "a b"], ["add", "x" * 65], ["revoke", "nobody"], ["limit", "ann"],
                      ["revoke", "bob"], ["renew", "bob"], ["add", "eve", "--tokens-per-day", -1]):
            with self.subTest(wrong=wrong), self.assertRaises(AssertionError):
                gateway.run("keys", *wrong)
        for text in (table, gateway.run("keys", "list", "--json")):
            self.assertNotIn(secret, text)
        rows = sqlite3.connect(gateway.folder / "store.db").execute("SELECT * FROM keys").fetchall()
        self.assertEqual(len(rows), 2)
        self.assertNotIn(secret, str(rows))

    # ---- How much ----

    def test_requests_of_a_minute(self):
        gateway = self.start()
        ann, bob = add_key(gateway, "ann", "--requests-per-minute", 3), add_key(gateway, "bob")
        self.closed(gateway)
        left = [gateway.ask("/v1/models", headers=bearer(ann)).headers["x-ratelimit-remaining-requests"] for _ in range(3)]
        self.assertEqual(left, ["2", "1", "0"])
        reply = gateway.ask("/v1/models", headers=bearer(ann))
        error = self.refused(reply, 429, "'ann'", "3 requests per minute", "retry in")
        self.assertEqual(error["code"], "rate_limit_exceeded")
        self.assertTrue(0 < int(reply.headers["retry-after"]) <= 20)
        self.assertEqual(gateway.ask("/v1/models", headers=bearer(bob)).status, 200)
        gateway.run("keys", "limit", "ann", "--requests-per-minute", 0)
        wait_for(lambda: gateway.ask("/v1/models", headers=bearer(ann)).status == 200, "the limit to go")

    def test_tokens_of_a_minute(self):
        gateway = self.start()
        ann = add_key(gateway, "ann", "--tokens-per-minute", 40)
        self.closed(gateway)
        statuses = [self.chat(gateway, ann).status for _ in range(8)]
        self.assertEqual(statuses[0], 200)
        self.assertEqual(statuses[-1], 429)
        self.refused(self.chat(gateway, ann), 429, "40 tokens per minute", "about")
        self.assertEqual(gateway.ask("/v1/models", headers=bearer(ann)).status, 200)  # costs no tokens
        ollama = gateway.ask("/api/chat", {"model": "gpt-4o", "messages": user("Ahoy!" * 40)}, headers=bearer(ann))
        self.assertEqual((ollama.status, ollama.json["error"]), (429, ollama.json["detail"]))

    def test_a_crowd_gets_no_more_than_the_limit(self):
        gateway = self.start()
        ann = add_key(gateway, "ann", "--requests-per-minute", 20)
        self.closed(gateway)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(lambda _: self.chat(gateway, ann).status, range(60)))
        self.assertEqual(set(statuses), {200, 429})
        self.assertTrue(20 <= statuses.count(200) <= 22, statuses.count(200))

    def test_the_budget_of_a_day_over_a_restart_with_alerts(self):
        with Hook() as hook:
            gateway = self.start(alert_webhook=hook.url)
            ann = add_key(gateway, "ann", "--tokens-per-day", 100)
            self.closed(gateway)
            used, asked, early = 0, 0, 0
            while (reply := self.chat(gateway, ann, stream=asked % 2 == 1)).status == 200 or b"running requests" in reply.body:
                if reply.status != 200:  # the reservation of the answer before this one is not settled yet
                    early += 1
                    time.sleep(0.05)
                    continue
                used, asked = used + int(reply.headers["x-plimsoll-input-tokens"]) + 3, asked + 1
                self.assertLess(asked, 50)
                self.assertNotIn(b'"usage"', reply.body if asked % 2 == 0 else b"")  # it was we who asked for it
            self.assertTrue(80 <= used <= 100, used)
            self.assertEqual(self.refused(reply, 429, "'ann'", f"{used} of its 100 tokens", "UTC")["code"],
                             "insufficient_quota")
            self.assertGreater(int(reply.headers["retry-after"]), 0)
            self.assertEqual(reply.headers["x-should-retry"], "false")
            wait_for(lambda: len(hook.got) == 2, "both alerts")
            self.assertEqual([one["percent"] for one in hook.got], [80, 100])
            self.assertEqual((hook.got[1]["key"], hook.got[1]["used_tokens"], hook.got[1]["tokens_per_day"]), ("ann", used, 100))
            self.assertEqual(gateway.logged().count("daily budget"), 2)
            metrics = gateway.ask("/metrics", headers=bearer(ann)).body.decode()
            self.assertIn("plimsoll_budget_alerts_total 2\n", metrics)
            self.assertIn(f"plimsoll_limited_requests_total {1 + early}\n", metrics)
            gateway.stop()
            gateway.start()
            self.refused(self.chat(gateway, ann), 429, f"{used} of its 100 tokens")
            gateway.run("keys", "limit", "ann", "--tokens-per-day", 1000)
            wait_for(lambda: self.chat(gateway, ann).status == 200, "the budget to be raised")
            # What was left was too little for a request; whoever started knows of no alert but the first.
            wait_for(lambda: len(hook.got) == 3, "the alert after the restart")
            self.assertEqual(hook.got[2]["percent"], 100)
            self.assertNotIn("planted-webhook-token", gateway.logged())
            wait_for(lambda: json.loads(gateway.run("usage", "--json"))["usage"][0]["requests"] == asked + 1, "usage of all answers")

    def test_who_leaves_before_the_end_has_used_what_came(self):
        self.upstream.text, self.upstream.slow_after = "aye " * 300, 101
        gateway = self.start()
        ann = add_key(gateway, "ann", "--tokens-per-day", 1000)
        self.closed(gateway)

        def used():
            sections = json.loads(gateway.run("usage", "--by", "section", "--json"))["usage"]
            return {one["section"]: one["tokens"] for one in sections}.get("answer", 0)

        for _ in range(2):
            body = {"model": "slow/gpt-4o", "stream": True, "messages": [{"role": "user", "content": "Ahoy"}]}
            line = gateway.dial(http_request(body, extra=f"Authorization: Bearer {ann}\r\n"))
            got = b""
            while got.count(b"aye") < 99:
                got += line.recv(1 << 16)
            line.close()
        wait_for(lambda: used() == 2 * 101, "what came to be charged")

    def test_a_webhook_that_hangs_holds_up_nobody(self):
        with Hook() as hook:
            hook.stalls.clear()
            gateway = self.start(alert_webhook=hook.url)
            ann = add_key(gateway, "ann", "--tokens-per-day", 20)
            self.closed(gateway)
            begun = time.monotonic()
            while self.chat(gateway, ann).status == 200:
                pass
            self.assertLess(time.monotonic() - begun, PATIENCE / 4)
            self.assertEqual(gateway.stop(), 0)
            gateway.start()

    # ---- What was used ----

    def test_usage_by_key_model_section_and_day(self):
        for count in (10_000, 0):  # also where no traces are kept
            with self.subTest(trace_count=count), serving(self.upstream, trace_count=count) as gateway:
                ann, bob = add_key(gateway, "ann"), add_key(gateway, "bob")
                self.closed(gateway)
                system = [{"role": "system", "content": "You are the mate."}]
                first = gateway.ask(CHAT, {"model": "gpt-4o", "messages": system + user("Ahoy!")}, headers=bearer(ann))
                second = self.chat(gateway, bob)
                self.assertEqual(gateway.ask("/v1/completions", {"model": "gpt-4o", "prompt": "Ahoy!"},
                                             headers=bearer(bob)).status, 200)
                self.assertEqual(self.chat(gateway, bob, messages=user("ship " * 9000)).status, 400)
                read = [int(reply.headers["x-plimsoll-input-tokens"]) for reply in (first, second)]

                def usage(*options, gateway=gateway):
                    return json.loads(gateway.run("usage", "--json", *options))["usage"]

                wait_for(lambda: sum(one["requests"] for one in usage("--by", "day")) == 4, "usage to be written")
                by_key = {one["key"]: one for one in usage()}
                self.assertEqual((by_key["ann"]["requests"], by_key["ann"]["read_tokens"], by_key["ann"]["written_tokens"]),
                                 (1, read[0], 3))
                self.assertEqual(by_key["bob"]["requests"], 3)
                self.assertEqual(by_key["bob"]["read_tokens"], read[1] + by_key["bob"]["sections"]["prompt"])
                sections = by_key["ann"]["sections"]
                self.assertEqual(sum(sections.values()), read[0] + 3)
                self.assertEqual(set(sections), {"template", "system", "question", "answer"})
                models = {one["model"]: one["requests"] for one in usage("--by", "model", "--key", "bob")}
                self.assertEqual(models, {"(no answer)": 1, "gpt-4o": 2})
                by_section = {one["section"]: one["tokens"] for one in usage("--by", "section", "--day", "today", "--key", "ann")}
                self.assertEqual(by_section, sections)
                self.assertEqual(usage("--day", "2001-01-01"), [])
                self.assertRegex(gateway.run("usage"), r"ann\s+1\s+\d+\s+3\s+\d+\s+\d")
                rows = gateway.run("usage", "--by", "day").splitlines()
                self.assertRegex(rows[1], r"^\d{4}-\d\d-\d\d\s+4\s")
                for wrong in (["--day", "yesteryear"], ["--day", "2026-02-30"], ["--key", "nobody"], ["--by", "colour"],
                              ["--days", 0], ["--day", "today", "--days", 2]):
                    with self.assertRaises(AssertionError):
                        gateway.run("usage", *wrong)

    def test_inspect_shows_whose_traces_they_are(self):
        gateway = self.start()
        before = self.chat(gateway)
        gateway.inspect(before.headers["x-plimsoll-trace"])
        self.assertNotIn("KEY", gateway.run("inspect"))
        ann, bob = add_key(gateway, "ann"), add_key(gateway, "bob")
        self.closed(gateway)
        traces = {name: self.chat(gateway, secret).headers["x-plimsoll-trace"] for name, secret in (("ann", ann), ("bob", bob))}
        for trace in traces.values():
            self.assertEqual(gateway.inspect(trace)["used"]["answer"], 3)
        listed = [json.loads(line) for line in gateway.run("inspect", "--json").splitlines()]
        self.assertEqual(len({one["owner"] for one in listed}), 3)
        of_ann = [json.loads(line)["id"] for line in gateway.run("inspect", "--key", "ann", "--json").splitlines()]
        self.assertEqual(of_ann, [traces["ann"]])
        self.assertRegex(gateway.run("inspect"), r"KEY[\s\S]+ann[\s\S]+bob")
        self.assertIn("key bob", gateway.run("inspect", traces["bob"]))
        with self.assertRaises(AssertionError):
            gateway.run("inspect", traces["bob"], "--key", "ann")

    # ---- Where it listens, and to which pages it speaks ----

    # To the program an address like any other, and yet of this machine alone.
    ELSEWHERE = "[::ffff:127.0.0.1]:0"

    def serve(self, gateway, *options, address=ELSEWHERE):
        """Its standard error, and whether it came to listen."""
        command = [part for part in gateway.command if part != "127.0.0.1:0"]
        command[command.index("--listen"):command.index("--listen") + 1] = []
        process = subprocess.Popen(command + ["--listen", address, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=gateway.environment, cwd=gateway.folder)
        try:
            listens = "listens on" in process.stdout.readline()
        finally:
            process.terminate()
        _, said = process.communicate(timeout=PATIENCE)
        return said, listens

    def test_the_commands_it_prints_use_its_store(self):
        gateway = self.start()
        gateway.stop()
        folder = gateway.folder / "a folder"
        folder.mkdir()
        gateway.command += ["--store", "a folder/my.db"]
        gateway.start()
        self.chat(gateway)
        hint = [line.strip() for line in gateway.greeting.splitlines() if line.endswith("inspect --last")][0]
        self.assertIn(f"store_file={folder / 'my.db'}", hint)
        path = os.pathsep.join([os.path.dirname(PROGRAM), os.environ["PATH"]])
        shell = {"cwd": "/", "shell": True, "capture_output": True, "text": True, "timeout": PATIENCE,
                 "env": gateway.environment | {"PATH": path}}
        until = time.monotonic() + PATIENCE
        while (done := subprocess.run(hint, check=False, **shell)).returncode and time.monotonic() < until:
            time.sleep(0.2)  # the trace is written a moment after the answer
        self.assertEqual(done.returncode, 0, done.stderr)
        said, _ = self.serve(gateway)
        hint = said.split("`")[1].replace("NAME", "ann")
        done = subprocess.run(hint, check=False, **shell)
        self.assertEqual(done.returncode, 0, done.stderr)
        said, listens = self.serve(gateway)
        self.assertTrue(listens, said)

    def test_it_listens_beyond_this_machine_with_keys_alone_or_when_told(self):
        gateway = self.start()
        said, listens = self.serve(gateway)
        self.assertFalse(listens)
        said, listens = self.serve(gateway, address="0.0.0.0:0")
        self.assertFalse(listens)
        for word in ("0.0.0.0", "keys add NAME", "--open", "open_to_all"):
            self.assertIn(word, said)
        said, listens = self.serve(gateway, "--open")
        self.assertTrue(listens, said)
        self.assertIn("every client that reaches the port", said)
        add_key(gateway, "ann")
        said, listens = self.serve(gateway)
        self.assertTrue(listens, said)
        self.assertNotIn("every client", said)

    def test_pages_that_are_listed_may_ask(self):
        ask = {"Origin": PAGE, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-own"}
        with serving(self.upstream) as off:
            reply = off.ask(CHAT, headers=ask, method="OPTIONS")
            self.assertEqual(reply.status, 405)
            self.assertNotIn("access-control-allow-origin", reply.headers)
            self.assertNotIn("access-control-allow-origin", off.ask("/health", headers={"Origin": PAGE}).headers)
            chat = {"model": "gpt-4o", "messages": user("Ahoy!")}
            self.assertEqual(off.ask(CHAT, chat, headers={"Origin": "http://localhost:3000"}).status, 200)
            for headers in ({"Origin": PAGE}, {"Origin": "null"}, {"Host": "evil.example"}):
                for path, body in ((CHAT, chat), ("/v1/memories", {"text": "The hold is full."})):
                    reply = off.ask(path, body, headers=headers)
                    self.assertEqual((reply.status, reply.json["error"]["code"]), (403, "forbidden"), headers)
            self.assertEqual(off.ask("/v1/memories").json["data"], [])
        gateway = self.start(cors_origins=f"{PAGE},http://localhost:3000")
        ann = add_key(gateway, "ann", "--requests-per-minute", 5)
        self.closed(gateway)
        reply = gateway.ask(CHAT, headers=ask, method="OPTIONS")
        self.assertEqual((reply.status, reply.body), (204, b""))
        self.assertEqual(reply.headers["access-control-allow-origin"], PAGE)
        self.assertEqual(reply.headers["access-control-allow-headers"], "authorization,x-own")
        self.assertIn("POST", reply.headers["access-control-allow-methods"])
        answer = gateway.ask(CHAT, {"model": "gpt-4o", "messages": user("Ahoy!")}, headers=bearer(ann) | {"Origin": PAGE})
        self.assertEqual((answer.status, answer.headers["access-control-allow-origin"]), (200, PAGE))
        self.assertIn("X-Plimsoll-Trace", answer.headers["access-control-expose-headers"])
        self.assertEqual(gateway.ask("/v1/models", headers={"Origin": PAGE}).headers["access-control-allow-origin"], PAGE)
        for origin in ("https://app.example.evil", "http://app.example", "null"):
            other = gateway.ask(CHAT, headers=ask | {"Origin": origin}, method="OPTIONS")
            self.assertEqual(other.status, 401)
            self.assertNotIn("access-control-allow-origin", other.headers)
            self.assertEqual(other.headers["vary"], "Origin")
        mcp = gateway.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=bearer(ann) | {"Origin": PAGE})
        self.assertEqual(mcp.status, 403)  # tools for agents are for pages of this machine

    def test_settings_that_cannot_be(self):
        for setting in ("cors_origins=app.example", "alert_webhook=somewhere"):
            with self.subTest(setting=setting):
                gateway = self.start()
                done = subprocess.run([*gateway.command[:1], "--set", setting, *gateway.command[1:]], capture_output=True, text=True,
                                      env=gateway.environment, cwd=gateway.folder, timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(setting.split("=")[0], done.stderr)


if __name__ == "__main__":
    unittest.main()
