"""Windows asked of live servers on this machine: of good ones, and of ones that stall, cut, lie and refuse.

`plimsoll` must be on the PATH (tools/run_tests.py sees to it). Nothing here leaves this machine.
"""

import json
import shutil
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import hostile
from hostile import Run, Server, recorded

TIMEOUT = 2.5
SLACK = 20.0  # for a machine that is busy with other tests

KINDS = {
    "ollama": ("llama3.2:3b", 8192, {"GET /v1/models": "ollama_v1_models", "GET /api/version": "ollama_version",
                                     "POST /api/show": "ollama_show", "GET /api/ps": "ollama_ps",
                                     "GET /api/tags": "ollama_tags"}),
    "llama.cpp": ("any", 4096, {"GET /v1/models": "llama_models", "GET /props": "llama_props"}),
    "vllm": ("Qwen/Qwen2.5-7B-Instruct", 24576, {"GET /v1/models": "vllm_models"}),
    "kaito": ("phi-4-mini-instruct", 65536, {"GET /v1/models": "kaito_models"}),
    "openrouter": ("qwen/qwen3-235b-a22b", 40960, {"GET /v1/models": "openrouter_models"}),
    "lmstudio": ("qwen2.5-7b-instruct", 12288, {"GET /v1/models": "lmstudio_v1_models",
                                                "GET /api/v0/models": "lmstudio_models"}),
    "tgi": ("mistralai/Mistral-7B-Instruct-v0.3", 8192, {"GET /info": "tgi_info"}),
    "gemini": ("gemini-2.5-flash", 1048576, {"GET /v1beta/models": "gemini_models"}),
    "anthropic": ("claude-sonnet-4-5-20250929", 200000, {"GET /v1/models": "anthropic_models"}),
}
NOT_FOUND_OUT = {"gemini"}  # its route is asked of its own host, or when it is named

HOSTILE = {
    "stalls before the header": (hostile.stall_before_header, "no whole reply within "),
    "stalls in the header": (hostile.stall_in_header, "no whole reply within "),
    "stalls in the body": (hostile.stall_in_body, "no whole reply within "),
    "drips": (hostile.drip, "no whole reply within "),
    "cuts": (hostile.cut, "the reply broke off"),
    "closes at once": (hostile.close_at_once, "closed without a reply"),
    "ten megabytes": (hostile.ten_megabytes, "longer than 8.0 MB"),
    "endless body": (hostile.endless, "longer than 8.0 MB"),
    "endless header": (hostile.endless_header, "header is longer than"),
    "500": (hostile.status(500, b"oops"), "status 500"),
    "503 in words": (hostile.status(503, b'{"error": {"message": "loading model"}}'), 'status 503: "loading model"'),
    "401": (hostile.status(401), "it requires a key"),
    "HTML": (lambda handler: handler.reply(b"<!doctype html><title>Welcome</title>"), "HTML or XML, not JSON"),
    "nothing": (lambda handler: handler.reply(b""), "the reply is nothing, not JSON"),
    "half a JSON": (lambda handler: handler.reply(b'{"data": [{"id": "m"'), "cut off or malformed"),
    "deep JSON": (lambda handler: handler.reply(b"[" * 1_000_000), "cut off or malformed"),
    "a list": (lambda handler: handler.reply(b"[]"), "not an object"),
    "wrong shapes": (lambda handler: handler.reply(b'{"data": {"id": "m"}}'), "no list under data"),
    "no HTTP": (hostile.no_http, "no HTTP"),
}

LIES = ["-1", "0", "100000001", "1e30", "99999999999999999999", "8192.5", '"8192"', '"\\u001b[2Jlots"', "true",
        "[8192]", '{"tokens": 8192}', "null"]


class Detecting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.run_models = Run(self.folder / "cache")

    def one(self, model, *arguments, env=None, timeout=TIMEOUT):
        """The only model of the answer."""
        models = self.run_models.json(model, "--timeout", timeout, *arguments, env=env)["models"]
        self.assertEqual(len(models), 1)
        self.assertLess(self.run_models.took, timeout + SLACK)
        return models[0]

    def assert_default(self, model, words):
        window = model["window"]
        self.assertEqual((window["tokens"], window["source"], window["confidence"]), (4096, "default", "low"), window)
        tried = "; ".join(f"{attempt['way']}: {attempt['result']}" for attempt in window["tried"])
        self.assertIn(words, tried)
        self.assertIn("default: 4,096", tried)


class GoodServers(Detecting):
    def test_every_kind_is_asked_its_own_way(self):
        for kind, (model, window, routes) in KINDS.items():
            with self.subTest(kind), Server({route: recorded(name) for route, name in routes.items()}) as server:
                found = self.one(model, "--upstream", server.url, "--kind", kind)
                self.assertEqual((found["window"]["tokens"], found["window"]["source"]), (window, "served"), found)
                self.assertEqual(len(server.asked), 1)

    def test_every_kind_is_found_out_from_any_of_its_addresses(self):
        for kind, (model, window, routes) in KINDS.items():
            if kind in NOT_FOUND_OUT:
                continue
            with self.subTest(kind), Server({route: recorded(name) for route, name in routes.items()}) as server:
                found = self.one(model, "--upstream", server.url + "/v1/chat/completions")
                self.assertEqual(found["window"]["tokens"], window, found)
                self.assertLessEqual(len(server.asked), 7)

    def test_a_list_has_everything_that_the_server_says(self):
        routes = {route: recorded(name) for route, name in KINDS["ollama"][2].items()}
        with Server(routes) as server:
            answer = self.run_models.json("--upstream", server.url)
        self.assertEqual((answer["schema"], answer["kind"], answer["upstream"]), (1, "ollama", server.url))
        self.assertEqual([model["name"] for model in answer["models"]], ["llama3.2:3b", "gemma3:1b"])
        llama = answer["models"][0]
        self.assertEqual((llama["maximum"], llama["tokenizer"], llama["exactness"], llama["parameters"],
                          llama["quantization"], llama["family"]),
                         (131072, "llama3.1", "exact", "3.2B", "Q4_K_M", "llama"))

    def test_an_ollama_with_nothing_set_and_nothing_loaded(self):
        routes = {"POST /api/show": recorded("ollama_show_unset"), "GET /api/ps": recorded("ollama_ps_empty")}
        with Server(routes) as server:
            found = self.one("llama3.2:3b", "--upstream", server.url, "--kind", "ollama")
        self.assert_default(found, "the model is not loaded")
        self.assertEqual(found["maximum"], 131072)

    def test_names_from_a_server_cannot_draw_on_the_terminal(self):
        evil = {"data": [{"id": "a\u001b[2J\u009b31mb\r\nc", "max_model_len": 5000}]}
        with Server({"GET /v1/models": json.dumps(evil)}) as server:
            status, out, _ = self.run_models("--upstream", server.url)
        self.assertEqual(status, 0)
        self.assertIn("5,000", out)
        for control in ("\u001b", "\u009b", "\r"):
            self.assertNotIn(control, out)


class HostileServers(Detecting):
    def test_the_default_is_taken_in_time_and_says_why(self):
        for name, (action, words) in HOSTILE.items():
            with self.subTest(name), Server(otherwise=action) as server:
                found = self.one("my-model", "--upstream", server.url, "--kind", "vllm")
                self.assert_default(found, words)

    def test_also_where_the_kind_has_to_be_found_out(self):
        for name, (action, words) in HOSTILE.items():
            with self.subTest(name), Server(otherwise=action) as server:
                self.assert_default(self.one("my-model", "--upstream", server.url), words)
                self.assertLessEqual(len(server.asked), 10)  # a kept connection that is cut is tried once more

    def test_also_an_ollama(self):
        for name in ("stalls before the header", "drips", "cuts", "ten megabytes", "500", "HTML"):
            action, words = HOSTILE[name]
            with self.subTest(name), Server(otherwise=action) as server:
                found = self.one("llama3.2:3b", "--upstream", server.url, "--kind", "ollama")
                self.assert_default(found, words)  # never the catalogue's 128,000

    def test_lies_are_not_believed(self):
        for lie in LIES:
            body = f'{{"data": [{{"id": "my-model", "max_model_len": {lie}}}]}}'
            with self.subTest(lie), Server({"GET /v1/models": body}) as server:
                found = self.one("my-model", "--upstream", server.url, "--kind", "vllm")
                self.assert_default(found, "does not have its window" if lie == "null" else "max_model_len is ")
                self.assertNotIn("\u001b", json.dumps(found, ensure_ascii=False))

    def test_lies_of_an_ollama_are_not_believed(self):
        for lie in ("-5", "0", "8k", "", "99999999999999999999", "8192.5"):
            show = json.dumps({"parameters": f"num_ctx {lie}", "details": {"family": "llama"}})
            routes = {"POST /api/show": show, "GET /api/ps": recorded("ollama_ps_empty")}
            with self.subTest(lie), Server(routes) as server:
                self.assert_default(self.one("my-model", "--upstream", server.url, "--kind", "ollama"), "num_ctx is ")

    def test_nobody_there(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound, and nobody listens
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            self.assert_default(self.one("my-model", "--upstream", url), "connection refused")
            status, out, err = self.run_models("--upstream", url)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("connection refused", err)

    def test_a_server_that_accepts_and_says_nothing(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen(16)
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            self.assert_default(self.one("my-model", "--upstream", url), "no whole reply")

    def test_no_redirect_is_followed(self):
        with Server({"GET /v1/models": recorded("vllm_models")}) as elsewhere:
            def away(handler):
                handler.reply(b"", 307, Location=elsewhere.url + "/v1/models")
            with Server(otherwise=away) as server:
                found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url, "--kind", "vllm")
            self.assertEqual(elsewhere.asked, [])
        self.assertEqual(found["window"]["source"], "catalogue")
        self.assertIn("which is not followed", found["window"]["tried"][0]["result"])

    def test_a_warning_says_what_was_tried(self):
        with Server(otherwise=hostile.status(500)) as server:
            status, out, err = self.run_models("my-model", "--upstream", server.url)
        self.assertEqual(status, 0)
        self.assertIn("warning", err)
        self.assertIn("GET /v1/models: status 500", err)
        self.assertIn("GET /v1/models: status 500", out)


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
class Certificates(Detecting):
    def certificate(self, name):
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=test", "-addext",
                        f"subjectAltName={name}"], check=True, capture_output=True)
        return certificate, key

    def ask(self, certificate, trusted):
        with Server({"GET /v1/models": recorded("vllm_models")}, certificate=certificate) as server:
            env = {"SSL_CERT_FILE": str(certificate[0])} if trusted else {}
            found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url, "--kind", "vllm", env=env, timeout=5)
            return found, server.asked

    def test_one_that_nobody_vouches_for_is_refused(self):
        found, asked = self.ask(self.certificate("IP:127.0.0.1"), trusted=False)
        self.assertEqual(found["window"]["source"], "catalogue")
        self.assertIn("its certificate was refused", found["window"]["tried"][0]["result"])
        self.assertEqual(asked, [])

    def test_one_that_is_trusted_is_taken(self):
        found, _ = self.ask(self.certificate("IP:127.0.0.1"), trusted=True)
        self.assertEqual(found["window"]["tokens"], 24576, found)

    def test_one_for_another_host_is_refused(self):
        found, asked = self.ask(self.certificate("DNS:other.example"), trusted=True)
        self.assertIn("its certificate was refused", found["window"]["tried"][0]["result"])
        self.assertEqual(asked, [])


class Keys(Detecting):
    SECRET = "geheim-4711"

    def test_the_key_goes_to_its_own_server_and_nowhere_else(self):
        routes = {"GET /v1/models": recorded("vllm_models")}
        with Server(routes) as own, Server(routes) as other:
            env = {"LLM_INFERENCE_URL": own.url + "/v1", "LLM_ACCESS_SECRET": self.SECRET,
                   "PLIMSOLL_LOG_LEVEL": "trace"}
            for server, sent in ((own, True), (other, False)):
                status, out, err = self.run_models("--upstream", server.url, env=env)
                self.assertEqual(status, 0, err)
                self.assertNotIn(self.SECRET, out + err)
                keys = [headers.get("Authorization") for _, headers, _ in server.asked]
                self.assertEqual(keys, [f"Bearer {self.SECRET}" if sent else None])
                self.assertEqual(sent, any(self.SECRET in str(headers) for _, headers, _ in server.asked))

    def test_neither_key_nor_password_is_shown_when_it_fails(self):
        with Server(otherwise=hostile.close_at_once) as server:
            url = server.url.replace("http://", f"http://ann:{self.SECRET}@")
            env = {"LLM_INFERENCE_URL": url, "LLM_ACCESS_SECRET": self.SECRET, "PLIMSOLL_LOG_LEVEL": "trace"}
            for arguments in (["--kind", "vllm"], ["my-model", "--upstream", url],
                              ["my-model", "--upstream", url, "--json"]):
                _, out, err = self.run_models(*arguments, env=env)
                self.assertIn("closed without a reply", out + err)
                self.assertNotIn(self.SECRET, out + err)
            self.assertTrue(any("Authorization" in headers for _, headers, _ in server.asked))

    def test_a_proxy_is_never_used_for_this_machine(self):
        with Server({"GET /v1/models": recorded("vllm_models")}) as server, Server() as proxy:
            env = {"http_proxy": proxy.url, "all_proxy": proxy.url}
            found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url, env=env)
            self.assertEqual(found["window"]["tokens"], 24576)
            self.assertEqual(proxy.asked, [])


class Remembering(Detecting):
    def ask(self, server, *arguments, env=None):
        found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url, *arguments, env=env)
        self.assertEqual(found["window"]["tokens"], 24576)
        return found

    def test_the_next_run_does_not_ask_again_unless_told_to(self):
        with Server({"GET /v1/models": recorded("vllm_models")}) as server:
            self.ask(server)
            self.assertEqual(len(server.asked), 1)
            again = self.ask(server)
            self.assertEqual(len(server.asked), 1)
            self.assertEqual(again["window"]["tried"][0]["way"], "earlier run")
            self.ask(server, "--refresh")
            self.assertEqual(len(server.asked), 2)
            self.ask(server)
            self.assertEqual(len(server.asked), 2)

    def test_nothing_is_remembered_for_longer_than_it_is_believed(self):
        with Server({"GET /v1/models": recorded("vllm_models")}) as server:
            self.ask(server, env={"CACHE_TTL_SECONDS": "0"})
            self.ask(server, env={"CACHE_TTL_SECONDS": "0"})
            self.assertEqual(len(server.asked), 2)
            self.ask(server)
            self.assertEqual(len(server.asked), 3)

    def test_a_failure_is_not_remembered(self):
        with Server(otherwise=hostile.status(500)) as server:
            self.one("my-model", "--upstream", server.url, "--kind", "vllm")
            server.routes["GET /v1/models"] = '{"data": [{"id": "my-model", "max_model_len": 7000}]}'
            self.assertEqual(self.one("my-model", "--upstream", server.url, "--kind", "vllm")["window"]["tokens"], 7000)

    def test_what_the_user_sets_stands_above_what_is_remembered(self):
        with Server({"GET /v1/models": recorded("vllm_models")}) as server:
            self.ask(server)
            own = self.folder / "own.toml"
            own.write_text('[[model]]\nname = "qwen2.5:7b"\nwindow = 999\ntokenizer = "qwen2.5"\n'
                           'specials = "parsed"\nsource = "me"\n')
            found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url,
                             env={"PLIMSOLL_MODELS_FILE": str(own)})
            self.assertEqual((found["window"]["tokens"], found["window"]["source"]), (999, "configured"))
            found = self.one("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url, env={"LLM_CONTEXT_WINDOW": "888"})
            self.assertEqual((found["window"]["tokens"], found["window"]["source"]), (888, "configured"))

    def test_a_damaged_file_is_ignored_and_replaced(self):
        kept = self.run_models.cache / "plimsoll" / "windows.json"
        with Server({"GET /v1/models": recorded("vllm_models")}) as server:
            self.ask(server)
            good = kept.read_text()
            self.assertEqual(json.loads(good)["version"], 2)
            damages = ["", "{", "[]", "\x00" * 100, good[:-20], good.replace('"version": 2', '"version": 99'),
                       good.replace("24576", "-1"), good.replace("24576", "34576"), good.replace('"served"', '"default"', 1), "x" * 20_000_000]
            for number, damage in enumerate(damages):
                kept.write_text(damage)
                status, _, err = self.run_models("Qwen/Qwen2.5-7B-Instruct", "--upstream", server.url,
                                                 env={"DEBUG": "true"})
                self.assertEqual(status, 0)
                self.assertIn("windows of earlier runs ignored", err)
                self.assertEqual(len(server.asked), number + 2)
                self.assertEqual(json.loads(kept.read_text())["version"], 2)

    def test_a_cache_folder_that_cannot_be_written_does_no_harm(self):
        self.run_models.cache.write_text("a file where the folder should be")
        with Server({"GET /v1/models": recorded("vllm_models")}) as server:
            self.ask(server)


if __name__ == "__main__":
    unittest.main()
