"""Nobody's work holds up everybody's: bulk work beside interactive requests, an end that is bounded, work that outlasts a reload."""

import asyncio
import signal
import socket
import threading
import time
import unittest

from chat import form
from gateway import CHAT, PATIENCE, Gateway, user
from test_keys import add_key, bearer, wait_for
from upstream import Upstream

# About a minute of embedding each.
MANY_TEXTS = [f"Lake number {n} lies between hills and has a depth of {n % 97} metres at its deepest place. " * 12 for n in range(2048)]


class Fairness(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "pause/gpt-4o": 8192}))

    def start(self, *upstreams, **settings):
        gateway = Gateway(*(upstreams or (self.upstream,)), **settings)
        self.addCleanup(gateway.close)
        return gateway

    def ask_beside(self, gateway, *arguments, **options):
        """On a thread that does not mind how it ends."""
        def run():
            try:
                gateway.ask(*arguments, **options)
            except (OSError, AssertionError):
                pass
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def test_embedding_holds_up_no_other_route_and_no_end(self):
        gateway = self.start()
        for _ in range(4):
            self.ask_beside(gateway, "/v1/embeddings", {"model": "all-minilm-l6-v2", "input": MANY_TEXTS})
        self.ask_beside(gateway, "/index", {"index_name": "lakes", "documents": [{"text": "\n".join(MANY_TEXTS)}]})
        time.sleep(2)
        for path, body in (("/v1/models", None), ("/indexes", None), ("/v1/count", {"model": "gpt-4o", "text": "x"}),
                           (CHAT, {"model": "gpt-4o", "messages": user("ship " * 20_000)})):
            begun = time.monotonic()
            self.assertIn(gateway.ask(path, body).status, (200, 400), path)
            self.assertLess(time.monotonic() - begun, PATIENCE / 4, path)
        begun = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        self.assertEqual(gateway.process.wait(60), 0)
        self.assertLess(time.monotonic() - begun, 45)

    def test_with_keys_upstreams_are_asked_for_their_models_once_in_ten_seconds(self):
        gateway = self.start()
        ann = add_key(gateway, "ann")
        wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")
        before = len(self.upstream.to("/v1/models"))
        for _ in range(5):
            reply = gateway.ask("/admin/models/refresh", {}, headers=bearer(ann))
            self.assertEqual((reply.status, reply.json["data"][0]["id"]), (200, "gpt-4o"))
        self.assertEqual(len(self.upstream.to("/v1/models")), before + 1)

    def test_a_list_of_models_names_the_newest_indexes_alone(self):
        gateway = self.start()
        for n in range(103):
            reply = gateway.ask("/index", {"index_name": f"i{n}", "documents": [{"text": "x"}]})
            self.assertEqual(reply.status, 200, reply.body)
        listed = gateway.ask("/v1/models").json
        names = [one["id"] for one in listed["data"]]
        self.assertEqual(listed["indexes_left_out"], 3)
        self.assertIn("gpt-4o+i102", names)
        self.assertNotIn("gpt-4o+i2", names)
        self.assertEqual(gateway.ask("/v1/models/gpt-4o+i2").json["id"], "gpt-4o+i2")
        tags = [one["name"] for one in gateway.ask("/api/tags").json["models"]]
        self.assertNotIn("gpt-4o+i2", tags)

    def test_a_server_that_hangs_holds_up_no_other_keys_plan(self):
        class Hanging(Upstream):
            hangs, waiting = False, 0

            async def answer_get(self, request, writer):
                self.waiting += self.hangs
                while self.hangs and not self.release.is_set():
                    await asyncio.sleep(0.01)
                return await super().answer_get(request, writer)

        server = self.enterContext(Hanging({"gpt-4o": 8192}))
        gateway = self.start(server, worker_threads=1, window_timeout_seconds=PATIENCE)
        *noisy, quiet = self.with_keys(gateway, "ann", "bob", "cid", "dan")
        server.hangs = True
        chat = {"messages": user("Ahoy")}
        for name, path in (("a", CHAT), ("b", "/v1/messages/count_tokens")):
            before = server.waiting
            beside = [self.ask_beside(gateway, path, chat | {"model": f"unheard-of-{name}{i}"}, headers=key) for i, key in enumerate(noisy)]
            wait_for(lambda: server.waiting > before, "the server to be asked for windows")
            for _ in range(3):
                self.assertEqual(gateway.ask("/v1/count", {"model": "gpt-4o", "text": "Ahoy"}, headers=quiet).status, 200)
            self.assertEqual([thread.is_alive() for thread in beside], [True] * 3)
            server.release.set()
            for thread in beside:
                thread.join(PATIENCE)
            server.release.clear()

    def with_keys(self, gateway, *names):
        keys = [bearer(add_key(gateway, name)) for name in names]
        wait_for(lambda: gateway.ask("/v1/models").status == 401, "the gateway to ask for keys")
        return keys

    def test_one_key_cannot_have_all_evaluations(self):
        gateway = self.start(max_evaluation_runs=4)
        ann, bob, cid = self.with_keys(gateway, "ann", "bob", "cid")
        asked = {"collection_id": "IDX", "questions": ["How tall is the tower?"] * 5, "llm_model": "pause/gpt-4o"}
        for key in (ann, bob, cid):
            made = gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": "It is 300 m."}]}, headers=key)
            self.assertEqual(made.status, 200, made.body)

        def start(key):
            return gateway.ask("/evaluation/plugin/start-with-questions", asked, headers=key).status

        self.assertEqual([start(key) for key in (ann, ann, ann, bob, bob, cid, cid)], [202, 202, 429, 202, 429, 202, 429])
        self.upstream.release.set()

    def test_one_key_cannot_have_all_places_for_memory_extraction(self):
        upstream = self.enterContext(Upstream({"notebook/gpt-4o": 8192}))
        gateway = self.start(upstream, extract_memories=True)
        ann, bob = self.with_keys(gateway, "ann", "bob")
        for key in (ann, bob):
            made = gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": "It is 300 m."}]}, headers=key)
            self.assertEqual(made.status, 200, made.body)
        for key in [ann] * 16 + [bob]:
            said = gateway.ask("/chat/message", {"message": "I sail.", "collection_id": "IDX", "model_name": "notebook/gpt-4o"}, headers=key)
            self.assertEqual(said.status, 200, said.body)
        wait_for(lambda: len([one for one in upstream.to() if b"You keep a notebook" in one.body]) == 9, "eight of one key and one of the other")
        self.assertEqual(gateway.logged().count("too many answers wait for memory extraction"), 8)
        upstream.release.set()

    def test_uploads_of_one_key_leave_room_for_anothers(self):
        gateway = self.start(max_upload_jobs=4)
        ann, bob = self.with_keys(gateway, "ann", "bob")
        kind, body = form(("collection_id", "lakes"), ("file", "lakes.txt", "\n".join(MANY_TEXTS)))

        def upload(key, what=body):
            return gateway.ask("/documents", what, headers=key | {"Content-Type": kind})

        self.assertEqual([upload(ann).status for _ in range(3)], [202, 202, 429])
        short = upload(bob, body.replace("\n".join(MANY_TEXTS).encode(), b"Lake Ann is 12 metres deep."))
        self.assertEqual(short.status, 202)
        path = f"/jobs/{short.json['job_id']}"
        wait_for(lambda: gateway.ask(path, headers=bob).json["status"] == "done", "the short upload beside the long ones")

    def test_four_keys_with_long_uploads_do_not_delay_a_fifths(self):
        gateway = self.start()
        keys = self.with_keys(gateway, "ann", "bob", "cid", "dan", "eve")
        texts = ["\n".join(MANY_TEXTS)] * 4 + ["Lake Ann is 12 metres deep."]
        jobs = []
        for key, text in zip(keys, texts):
            kind, body = form(("collection_id", "lakes"), ("file", "lakes.txt", text))
            accepted = gateway.ask("/documents", body, headers=key | {"Content-Type": kind})
            self.assertEqual(accepted.status, 202, accepted.body)
            jobs.append(f"/jobs/{accepted.json['job_id']}")
        wait_for(lambda: gateway.ask(jobs[4], headers=keys[4]).json["status"] == "done", "the short upload")
        self.assertIn("running", [gateway.ask(job, headers=key).json["status"] for job, key in zip(jobs[:4], keys)])

    def test_runs_on_a_server_that_hangs_delay_no_run_of_another_key(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            gateway = self.start(self.upstream, f"hang=http://127.0.0.1:{silent.getsockname()[1]}/v1", window_timeout_seconds=60)
            ann, bob = self.with_keys(gateway, "ann", "bob")
            for key in (ann, bob):
                made = gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": "It is 300 m."}]}, headers=key)
                self.assertEqual(made.status, 200, made.body)

            def start(key, model):
                asked = {"collection_id": "IDX", "questions": ["How tall is the tower?"], "llm_model": model}
                started = gateway.ask("/evaluation/plugin/start-with-questions", asked, headers=key)
                self.assertEqual(started.status, 202, started.body)
                return f"/evaluation/runs/{started.json['run_id']}"

            for name in "abcd":
                start(ann, f"hang/{name}")
            begun = time.monotonic()
            run = start(bob, "gpt-4o")
            wait_for(lambda: gateway.ask(run, headers=bob).json["status"] == "done", "the run beside those that hang")
            self.assertLess(time.monotonic() - begun, PATIENCE / 4)

    def test_an_upload_outlasts_a_reload(self):
        gateway = self.start()
        kind, body = form(("collection_id", "lakes"), ("file", "lakes.txt", "\n".join(MANY_TEXTS[:200])))
        path = f"/jobs/{gateway.ask('/documents', body, headers={'Content-Type': kind}).json['job_id']}"
        wait_for(lambda: gateway.ask(path).json["stage"], "the upload to be under way")
        gateway.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings read again" in gateway.logged(), "the settings to be read again")
        self.assertEqual(gateway.ask(path).json["status"], "running")
        wait_for(lambda: gateway.ask(path).json["status"] != "running", "the upload to end")
        ended = gateway.ask(path).json
        self.assertEqual((ended["status"], ended["documents"]["added"]), ("done", 1), ended)

    def test_an_evaluation_outlasts_a_reload(self):
        gateway = self.start()
        self.assertEqual(gateway.ask("/index", {"index_name": "IDX", "documents": [{"text": "The tower is tall."}]}).status, 200)
        started = gateway.ask("/evaluation/plugin/start-with-questions",
                              {"collection_id": "IDX", "questions": ["How tall is the tower?"], "llm_model": "pause/gpt-4o"})
        path = f"/evaluation/runs/{started.json['run_id']}"
        wait_for(lambda: self.upstream.to(), "the question")
        gateway.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "settings read again" in gateway.logged(), "the settings to be read again")
        self.assertEqual(gateway.ask(path).json["status"], "running")
        self.upstream.release.set()
        wait_for(lambda: gateway.ask(path).json["status"] == "done", "the run to end")
        self.assertEqual(gateway.ask(path).json["answered"], 1)

    def test_a_second_server_leaves_the_runs_of_the_first_alone(self):
        first = self.start()
        self.assertEqual(first.ask("/index", {"index_name": "IDX", "documents": [{"text": "The tower is tall."}]}).status, 200)
        started = first.ask("/evaluation/plugin/start-with-questions",
                            {"collection_id": "IDX", "questions": ["How tall is the tower?"], "llm_model": "pause/gpt-4o"})
        path = f"/evaluation/runs/{started.json['run_id']}"
        wait_for(lambda: self.upstream.to(), "the question")
        second = self.start(store_file=first.folder / "store.db")
        self.assertEqual(second.ask(path).json["status"], "running")
        first.stop(signal.SIGKILL)
        second.stop()
        second.start()
        self.assertEqual(second.ask(path).json["status"], "interrupted")
        first.start()  # which ends in an orderly way

    def test_a_server_that_swallows_packets_delays_no_signal(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            gateway = self.start(f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
            time.sleep(3)  # it is asked again by then
            begun = time.monotonic()
            gateway.process.send_signal(signal.SIGTERM)
            self.assertEqual(gateway.process.wait(60), 0)
            self.assertLess(time.monotonic() - begun, 10)


if __name__ == "__main__":
    unittest.main()
