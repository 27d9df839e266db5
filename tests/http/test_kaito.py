"""The routes of KAITO RAGEngine for indexes and documents: what its clients rely on, and where we do better. Chats are in
test_kaito_chat.py. The numbers are those of the list of behaviours that docs/migrate-from-kaito.md sums up.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import concurrent.futures
import os
import signal
import time
import unittest

from gateway import PATIENCE, SLOW, serving
from kaito import CATS, PLANTS, THREE, TOWER, Engine, id_of, seg

RUST = "Rust is a programming language."
POSTED = ["/index", "/retrieve", "/indexes/x/documents", "/indexes/x/documents/delete"]


class Service(Engine):
    def test_01_health(self):
        reply = self.gateway.ask("/health")
        self.assertEqual((reply.status, reply.json), (200, {"status": "Healthy", "detail": None}))

    def test_02_indexes_are_listed_in_the_order_of_their_making(self):
        with serving(self.behind) as empty:
            self.assertEqual(empty.ask("/indexes").json, [])
            for name in ("b", "a"):
                empty.ask("/index", {"index_name": name, "documents": [{"text": CATS}]})
            self.assertEqual(empty.ask("/indexes").json, ["b", "a"])

    def test_03_metrics(self):
        self.made()
        self.assertGreaterEqual(self.counted("rag_index_requests_total", "success"), 1)
        before = self.counted("rag_indexes_document_requests_total", "failure")
        self.listed("nowhere")
        self.assertEqual(self.counted("rag_indexes_document_requests_total", "failure"), before + 1)
        self.listed("nowhere", limit=0)  # not a request at all: not counted
        self.assertEqual(self.counted("rag_indexes_document_requests_total", "failure"), before + 1)
        ways = {"rag_chat": lambda name: self.chat(name=name), "rag_persist": lambda name: self.post(f"/persist/{name}"),
                "rag_load": lambda name: self.post(f"/load/{name}", overwrite="true"),
                "rag_indexes_update_document": lambda name: self.update([{"doc_id": "x", "text": "y"}], name),
                "rag_indexes_delete_document": lambda name: self.delete("x", name=name),
                "rag_indexes_retrieve": lambda name: self.retrieve(CATS, name),
                "rag_delete_index": self.drop}
        for metric, ask in ways.items():
            for name, status in [(self.name, "success"), ("nowhere", "failure")]:
                with self.subTest(metric=metric, status=status):
                    before = self.counted(f"{metric}_requests_total", status)
                    ask(name)
                    until = time.monotonic() + PATIENCE  # a chat is counted when its last byte is on its way
                    while self.counted(f"{metric}_requests_total", status) == before and time.monotonic() < until:
                        time.sleep(0.02)
                    self.assertEqual(self.counted(f"{metric}_requests_total", status), before + 1)
        for metric, least in {"rag_embedding_requests_total": 1, "rag_retrieve_result_count_count": 1,
                              "rag_hybrid_top_k_requested_sum": 5, "rag_hybrid_search_mode_total": 1}.items():
            text = self.gateway.ask("/metrics").body.decode()
            values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(metric)]
            self.assertGreaterEqual(max(values), least, metric)
        for operation in ("insert", "delete", "query"):
            self.assertRegex(text, f'operation_latency_seconds_count{{operation="{operation}",status="success"}} [1-9]')
        reply = self.gateway.ask("/metrics")
        self.assertTrue(reply.headers["content-type"].startswith("text/plain"))
        self.assertIn(b'rag_index_latency_seconds_bucket{le="+Inf",status="success"}', reply.body)
        self.assertIn(b"e2e_request_total", reply.body)

    def test_04_unknown_paths_and_methods(self):
        self.detail(self.gateway.ask("/nowhere"), 404, "Not Found")
        self.detail(self.gateway.ask("/indexes/a/b/documents"), 404, "Not Found")
        self.detail(self.gateway.ask("/index"), 405, "Method Not Allowed")
        reply = self.gateway.ask("/indexes/x/documents", method="DELETE")
        self.detail(reply, 405, "Method Not Allowed")
        self.assertEqual(reply.headers["allow"], "GET, POST")

    def test_05_what_is_no_json(self):
        for path in POSTED:
            for body in (b"{ broken", b'{"index_name": "\xff"}', b"nil"):
                with self.subTest(path=path, body=body):
                    self.complaint(self.gateway.ask(path, body), "json_invalid", "body")
            self.complaint(self.gateway.ask(path, b"", method="POST"), "missing", "body")
            self.complaint(self.gateway.ask(path, b"[1]"), "model_attributes_type", "body")
        with serving(self.behind, kaito_compat=True) as compatible:
            self.complaint(compatible.ask(body="{ broken"), "json_invalid", "body")


class Indexing(Engine):
    def test_06_what_goes_in_comes_back(self):
        reply = self.made()
        self.assertEqual([one["doc_id"] for one in reply], [id_of(text) for text in (CATS, TOWER, PLANTS)])
        self.assertEqual([one["text"] for one in reply], [CATS, TOWER, PLANTS])
        self.assertEqual([one["metadata"] for one in reply], [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {}])
        for one in reply:
            self.assertEqual((one["hash_value"], one["is_truncated"]), (None, False))
            self.assertEqual(list(one), ["doc_id", "text", "metadata", "hash_value", "is_truncated"])
        umlaut = "Größe ✓"
        self.assertEqual(self.made([{"text": umlaut}], "umlaut")[0]["doc_id"], id_of(umlaut))
        self.assertEqual(self.texts("umlaut"), [umlaut])

    def test_07_ids_of_the_client_do_not_count(self):
        reply = self.made([{"text": CATS, "doc_id": "mine", "hash_value": "x", "is_truncated": True, "other": 1}])
        self.assertEqual((reply[0]["doc_id"], reply[0]["is_truncated"]), (id_of(CATS), False))
        self.assertEqual(self.good(self.listed())["documents"][0]["doc_id"], id_of(CATS))

    def test_08_a_text_that_is_there_stays(self):
        self.made()
        again = self.made([{"text": CATS, "metadata": {"k": "new"}}])
        self.assertEqual((again[0]["doc_id"], again[0]["metadata"]), (id_of(CATS), {"k": "new"}))
        listed = self.good(self.listed())
        self.assertEqual((listed["total_items"], listed["documents"][0]["metadata"]), (3, {"k": "a", "n": 1}))

    def test_09_no_documents_make_no_index(self):
        self.assertEqual(self.made([]), [])
        self.assertNotIn(self.name, self.gateway.ask("/indexes").json)
        self.assertEqual(self.made([{"text": " \n"}])[0]["text"], " \n")  # one without words makes one
        self.assertIn(self.name, self.gateway.ask("/indexes").json)
        self.assertEqual(self.good(self.listed())["total_items"], 0)

    def test_10_what_is_missing_is_named(self):
        self.complaint(self.add([{"metadata": {}}]), "missing", "body", "documents", 0, "text")
        self.complaint(self.gateway.ask("/index", {"documents": []}), "missing", "body", "index_name")
        self.complaint(self.gateway.ask("/index", {"index_name": "x"}), "missing", "body", "documents")
        self.complaint(self.add([{"text": 1}]), "string_type", "body", "documents", 0, "text")
        self.complaint(self.add(["x"]), "model_attributes_type", "body", "documents", 0)
        self.complaint(self.add([{"text": "x", "metadata": [1]}]), "dict_type", "body", "documents", 0, "metadata")
        self.complaint(self.add({"text": "x"}), "list_type", "body", "documents")
        self.complaint(self.gateway.ask("/index", {"index_name": 1, "documents": []}), "string_type", "body", "index_name")
        both = self.gateway.ask("/index", {"documents": [{}]}).json["detail"]
        self.assertEqual([one["loc"][-1] for one in both], ["index_name", "text"])

    def test_11_code_is_cut_as_code(self):
        code = "\n\n".join(f"def sound_{n}(depth):\n    fathoms = depth / {n + 1}\n    return fathoms * {n}" for n in range(60))
        one = {"text": code, "metadata": {"split_type": "code", "language": "python"}}
        self.made([one])
        page = self.good(self.listed(limit=100))
        self.assertGreaterEqual(page["total_items"], 2)
        self.assertEqual({node["doc_id"] for node in page["documents"]}, {id_of(code)})
        self.assertEqual("".join(self.texts(max_text_length=100_000)), code)
        for node in page["documents"][1:]:  # functions are not cut through
            self.assertTrue(node["text"].lstrip().startswith("def "), node["text"])
        for metadata, word in [({"split_type": "code"}, "Language not specified in node metadata."),
                               ({"split_type": "code", "language": "klingon"}, "klingon")]:
            self.assertIn(word, self.detail(self.add([{"text": "x = 1", "metadata": metadata}], "nothing"), 400))
        self.assertNotIn("nothing", self.gateway.ask("/indexes").json)
        self.made([{"text": "puts 1\n", "metadata": {"split_type": "code", "language": "ruby"}}], "ruby")
        with serving(self.behind, kaito_compat=True) as compatible:
            reply = compatible.ask("/index", {"index_name": "x", "documents": [
                {"text": "x", "metadata": {"split_type": "code", "language": "klingon"}}]})
            self.assertIn("klingon", self.detail(reply, 500))

    def test_12_long_texts_become_several_nodes(self):
        text = " ".join(f"Sounding {n} found {n * 3} fathoms of water off the point." for n in range(250))
        self.made([{"text": text}, {"text": CATS}])
        page = self.good(self.listed(limit=100, max_text_length=100_000))
        nodes = [one for one in page["documents"] if one["doc_id"] == id_of(text)]
        self.assertGreater(len(nodes), 2)
        self.assertEqual((page["total_items"], len(nodes) + 1), (page["count"], page["count"]))
        self.assertEqual("".join(one["text"] for one in nodes), text)
        for one in nodes:
            tokens = self.gateway.ask("/v1/count", {"model": "gpt-4o", "text": one["text"]}).json["tokens"]
            self.assertLessEqual(tokens, 1024)

    def test_13_metadata_may_be_null(self):
        self.assertEqual(self.made([{"text": CATS, "metadata": None}])[0]["metadata"], {})
        nested = {"deep": {"z": [1, {"b": None, "a": 1.5}]}, "flag": True}
        self.made([{"text": TOWER, "metadata": nested}])
        self.assertEqual(self.good(self.listed(offset=1))["documents"][0]["metadata"], nested)

    def test_14_the_same_text_twice_is_kept_once(self):
        self.assertEqual(len(self.made([{"text": CATS}, {"text": CATS}, {"text": TOWER}])), 3)
        self.assertEqual(self.texts(), [CATS, TOWER])

    def test_14_many_at_once(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda n: self.add([{"text": f"{CATS} {n}"}, {"text": CATS}]), range(24)))
        self.assertEqual({reply.status for reply in replies}, {200})
        self.assertEqual(sorted(self.texts()), sorted([CATS] + [f"{CATS} {n}" for n in range(24)]))


class Documents(Engine):
    def setUp(self):
        super().setUp()
        self.made()

    def test_15_listed_in_the_order_they_came(self):
        page = self.good(self.listed())
        self.assertEqual((page["count"], page["total_items"]), (3, 3))
        self.assertEqual([one["text"] for one in page["documents"]], [CATS, TOWER, PLANTS])
        hashes = [one["hash_value"] for one in page["documents"]]
        for one in hashes:
            self.assertRegex(one, "^[0-9a-f]{64}$")
        self.assertEqual(len(set(hashes)), 3)

    def test_16_pages(self):
        page = self.good(self.listed(limit=1, offset=1))
        self.assertEqual((page["count"], page["total_items"], page["documents"][0]["text"]), (1, 3, TOWER))
        page = self.good(self.listed(offset=100))
        self.assertEqual((page["documents"], page["count"], page["total_items"]), ([], 0, 3))
        long = " ".join(f"Line {n} says something of its own about ships." for n in range(200))
        self.made([{"text": long}])
        one_by_one = [self.texts(limit=1, offset=n, max_text_length=9999)[0] for n in range(self.good(self.listed())["total_items"])]
        self.assertEqual("".join(one_by_one), CATS + TOWER + PLANTS + long)

    def test_17_what_pages_cannot_be(self):
        for name, value, kind in [("limit", 0, "greater_than_equal"), ("limit", 101, "less_than_equal"),
                                  ("offset", -1, "greater_than_equal"), ("max_text_length", 0, "greater_than_equal"),
                                  ("limit", "many", "int_parsing")]:
            self.complaint(self.listed(**{name: value}), kind, "query", name)

    def test_18_texts_are_cut_by_characters(self):
        page = self.good(self.listed(max_text_length=4, limit=1))
        self.assertEqual((page["documents"][0]["text"], page["documents"][0]["is_truncated"]), ("Cats", True))
        self.assertFalse(self.good(self.listed(limit=1))["documents"][0]["is_truncated"])
        self.made([{"text": "ü✓" * 400}], "wide")
        self.assertEqual(self.texts("wide", max_text_length=3, limit=1), ["ü✓ü"])
        self.made([{"text": "word " * 60 + "x" * 1200, "metadata": {}}], "default")
        self.assertEqual(max(len(text) for text in self.texts("default")) <= 1000, True)

    def test_19_filters(self):
        for wanted, texts in [({"k": "b"}, [TOWER]), ({"n": 1}, [CATS]), ({"n": "1"}, []), ({"k": "zz"}, []),
                              ({"k": "a", "n": 1}, [CATS]), ({"k": "a", "n": 2}, []), ({}, [CATS, TOWER, PLANTS])]:
            with self.subTest(filter=wanted):
                page = self.good(self.listed(metadata_filter=wanted))
                self.assertEqual(([one["text"] for one in page["documents"]], page["total_items"]), (texts, len(texts)))
        for broken in ("zz", "[1]"):
            self.detail(self.listed(metadata_filter=broken), 400,
                        "Invalid metadata filter format. Must be a valid JSON string.")

    def test_20_unknown_indexes(self):
        said = "No such index: 'X' exists."
        for reply in (self.listed("X"), self.update([{"doc_id": "a", "text": "b"}], "X"), self.delete("a", name="X"),
                      self.drop("X"), self.post("/persist/X"), self.retrieve("q", "X")):
            self.detail(reply, 404, said)
        self.assertEqual(self.detail(self.chat(name="X"), 404), said)
        self.assertFalse((self.snapshots / "X").exists())

    def test_21_updates_say_what_became_of_each(self):
        reply = self.good(self.update([{"doc_id": id_of(CATS), "text": "Cats purr.", "metadata": {"k": "a", "n": 1}},
                                       {"doc_id": "nope", "text": "x"},
                                       {"doc_id": id_of(TOWER), "text": TOWER, "metadata": {"n": 2, "k": "b"}}]))
        self.assertEqual({key: [one["doc_id"] for one in value] for key, value in reply.items()},
                         {"updated_documents": [id_of(CATS)], "unchanged_documents": [id_of(TOWER)],
                          "not_found_documents": ["nope"]})
        for key in ("text", "metadata", "hash_value", "is_truncated"):
            self.assertIn(key, reply["updated_documents"][0])
        only_metadata = self.good(self.update([{"doc_id": id_of(PLANTS), "text": PLANTS, "metadata": {"new": [1]}}]))
        self.assertEqual(len(only_metadata["updated_documents"]), 1)
        self.assertEqual(self.texts(metadata_filter={"new": [1]}), [PLANTS])
        self.complaint(self.update([{"doc_id": "x"}]), "missing", "body", "documents", 0, "text")

    def test_22_an_updated_document_is_the_last_and_found(self):
        news = "Cats of the harbour sleep on coiled ropes."
        self.good(self.update([{"doc_id": id_of(CATS), "text": news}]))
        documents = self.good(self.listed())["documents"]
        self.assertEqual([one["text"] for one in documents], [TOWER, PLANTS, news])
        self.assertEqual(documents[-1]["doc_id"], id_of(CATS))
        reply = self.chat(news)
        self.assertEqual((self.sources(reply)[0], reply.json["source_nodes"][0]["doc_id"]), (news, id_of(CATS)))
        self.made([{"text": CATS}])  # its id is taken
        self.assertEqual(self.texts(), [TOWER, PLANTS, news])

    def test_23_deleted_documents_are_gone(self):
        reply = self.good(self.delete(id_of(PLANTS), "nope"))
        self.assertEqual(reply, {"deleted_doc_ids": [id_of(PLANTS)], "not_found_doc_ids": ["nope"]})
        self.assertEqual(self.good(self.listed())["total_items"], 2)
        self.assertNotIn(PLANTS, self.sources(self.chat(PLANTS)))
        self.assertNotIn(PLANTS, [one["text"] for one in self.good(self.retrieve(PLANTS))["results"]])
        self.complaint(self.gateway.ask(f"/indexes/{self.name}/documents/delete", {}), "missing", "body", "doc_ids")

    def test_24_nothing_is_mixed_up_by_deleting_and_adding(self):
        self.good(self.delete(id_of(CATS)))
        self.made([{"text": RUST}])
        self.assertEqual(self.sources(self.chat(PLANTS))[0], PLANTS)
        self.good(self.update([{"doc_id": id_of(TOWER), "text": "The Tower Bridge is in London."}]))
        self.assertEqual(self.sources(self.chat(PLANTS))[0], PLANTS)
        self.assertEqual(self.sources(self.chat(RUST))[0], RUST)

    def test_25_an_index_is_deleted_once(self):
        self.assertEqual(self.good(self.drop()), {"message": f"Successfully deleted index {self.name}."})
        self.detail(self.drop(), 404)
        self.made([{"text": RUST}])  # and can be made anew
        self.assertEqual((self.texts(), self.sources(self.chat(RUST))), ([RUST], [RUST]))


class Snapshots(Engine):
    def setUp(self):
        super().setUp()
        self.made()

    def persist(self, name=None, **query):
        return self.post(f"/persist/{seg(name or self.name)}", **query)

    def load(self, name=None, **query):
        return self.post(f"/load/{seg(name or self.name)}", **query)

    def test_26_a_snapshot_is_written(self):
        reply = self.good(self.persist())
        self.assertEqual(reply, {"message": f"Successfully persisted index {self.name} to {self.snapshots / self.name}."})
        self.assertTrue((self.snapshots / self.name).is_dir())
        where = self.snapshots / "one" / "two"
        reply = self.good(self.persist(path=where))
        self.assertTrue(reply["message"].endswith(f" to {where}."))
        self.assertTrue(where.is_dir())
        self.good(self.persist(path=where))  # over the old one
        self.assertEqual(sorted(file.name for file in where.iterdir()), ["plimsoll-index.db", "plimsoll-index.sums"])
        self.assertTrue(self.good(self.persist(path=self.snapshots))["message"].endswith(f"{self.snapshots / self.name}."))

    def test_26_paths_stay_inside(self):
        self.gateway.folder.joinpath("link").mkdir()
        self.snapshots.mkdir(exist_ok=True)
        os.symlink(self.gateway.folder / "link", self.snapshots / "link")
        before = sorted(str(path) for path in self.gateway.folder.rglob("*") if "store.db" not in path.name)
        for path in ("/etc/x", "..", "../x", f"{self.snapshots}/../x", f"{self.snapshots}-x", f"{self.snapshots}/link/x", "a\0b"):
            with self.subTest(path=path):
                self.assertIn("Path", self.detail(self.persist(path=path), 400))
                self.assertIn("Path", self.detail(self.load("other", path=path), 400))
        self.assertEqual(before, sorted(str(path) for path in self.gateway.folder.rglob("*") if "store.db" not in path.name))

    def test_27_a_snapshot_is_loaded(self):
        before, found = self.good(self.listed()), self.sources(self.chat())
        self.good(self.persist())
        self.good(self.drop())
        reply = self.good(self.load())
        self.assertEqual(reply, {"message": f"Successfully loaded index {self.name} from {self.snapshots / self.name}."})
        self.assertEqual((self.good(self.listed()), self.sources(self.chat())), (before, found))
        self.good(self.load("second", path=self.snapshots / self.name))
        self.assertEqual((self.good(self.listed("second")), self.sources(self.chat(name="second"))), (before, found))
        with serving(self.behind, default_vector_db_persist_dir=self.snapshots) as other:  # another one loads it
            self.assertEqual(other.ask(f"/load/{self.name}", b"", method="POST").status, 200)
            self.assertEqual(other.ask(f"/indexes/{self.name}/documents").json, before)
            self.assertEqual(other.chat(self.model, [{"role": "user", "content": TOWER}],
                                        index_name=self.name).json["source_nodes"][0]["text"], TOWER)

    def test_28_missing_paths_and_overwriting(self):
        gone = self.snapshots / "gone"
        self.detail(self.load("x", path=gone), 404, f"Path does not exist: {gone}")
        self.good(self.persist())
        self.good(self.delete(id_of(CATS)))
        for word in ("true", "True"):
            self.good(self.load(overwrite=word))
            self.assertEqual(self.texts(), [CATS, TOWER, PLANTS])
            self.assertEqual(self.sources(self.chat(CATS))[0], CATS)
        self.complaint(self.load(overwrite="perhaps"), "bool_parsing", "query", "overwrite")
        (self.snapshots / "empty").mkdir()
        self.assertIn("snapshot", self.detail(self.load("x", path=self.snapshots / "empty"), 400))
        (self.snapshots / "broken").mkdir()
        (self.snapshots / "broken" / "plimsoll-index.db").write_bytes(b"nothing of the kind" * 500)
        self.assertGreaterEqual(self.load(overwrite="true", path=self.snapshots / "broken").status, 400)
        self.assertEqual(self.texts(), [CATS, TOWER, PLANTS])  # what was there stays

    def test_29_nothing_is_overwritten_unasked(self):
        self.good(self.persist())
        self.assertIn("already exists", self.detail(self.load(), 409))
        self.assertEqual(self.texts(), [CATS, TOWER, PLANTS])


class Retrieve(Engine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.gateway.ask("/index", {"index_name": "IDX", "documents": THREE})

    def setUp(self):
        super().setUp()
        self.name = "IDX"

    def test_30_the_form_of_results(self):
        reply = self.good(self.retrieve(TOWER, max_node_count=2))
        self.assertEqual((reply["query"], reply["count"]), (TOWER, len(reply["results"])))
        self.assertLessEqual(reply["count"], 2)
        for one in reply["results"]:
            self.assertEqual(list(one), ["doc_id", "node_id", "text", "score", "dense_score", "sparse_score", "source",
                                         "metadata"])
            self.assertIsInstance(one["score"], float)
            self.assertIn(one["source"], ("both", "dense_only", "sparse_only", None))
        self.made([{"text": f"Lake {n} is {n} fathoms deep."} for n in range(9)], "nine")
        self.assertEqual(self.good(self.retrieve("How deep is lake 3?", "nine"))["count"], 5)
        self.assertEqual(self.good(self.retrieve("How deep is lake 3?", "nine", max_node_count=300))["count"], 9)

    def test_31_questions_that_are_none(self):
        for query in ("", "  \n"):
            self.detail(self.retrieve(query), 400, "Query string cannot be empty.")
        for count, kind in [(0, "greater_than_equal"), (301, "less_than_equal"), (2**63, "less_than_equal"), ("2", "int_type")]:
            self.complaint(self.retrieve("q", max_node_count=count), kind, "body", "max_node_count")
        self.complaint(self.gateway.ask("/retrieve", {"index_name": "IDX"}), "missing", "body", "query")
        with serving(self.behind, rag_max_top_k=7) as narrow:
            self.complaint(narrow.ask("/retrieve", {"index_name": "x", "query": "q", "max_node_count": 8}),
                           "less_than_equal", "body", "max_node_count")

    def test_32_the_best_is_first(self):
        for text in (CATS, TOWER, PLANTS):
            results = self.good(self.retrieve(text))["results"]
            self.assertEqual((results[0]["text"], results[0]["doc_id"]), (text, id_of(text)))
            scores = [one["score"] for one in results]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertEqual(results[0]["source"], "both")
        self.assertEqual(self.good(self.retrieve("Where do plants get energy?"))["results"][0]["text"], PLANTS)

    def test_33_filters_hold(self):
        results = self.good(self.retrieve(CATS, metadata_filter={"k": "b"}))["results"]
        self.assertEqual([one["text"] for one in results], [TOWER])
        self.assertEqual(self.good(self.retrieve(CATS, metadata_filter={"n": "1"}))["results"], [])
        self.complaint(self.retrieve(CATS, metadata_filter="k"), "dict_type", "body", "metadata_filter")


class Names(Engine):
    def test_50_names_with_slashes_and_none(self):
        for name in ("a/b", "über uns", "../../etc", "..", "50%", "a%2Fb", "x+y"):
            with self.subTest(name=name):
                self.made(name=name)
                self.assertEqual(self.texts(name), [CATS, TOWER, PLANTS])
                self.good(self.delete(id_of(CATS), name=name))
                self.assertEqual(self.sources(self.chat(name=name)), [TOWER])
                self.good(self.post(f"/persist/{seg(name)}"))
                self.good(self.drop(name))
                self.good(self.post(f"/load/{seg(name)}"))
                self.assertEqual(self.texts(name), [TOWER, PLANTS])
                self.assertIn(name, self.gateway.ask("/indexes").json)
        self.complaint(self.gateway.ask("/index", {"index_name": "", "documents": THREE}), "string_too_short", "body",
                       "index_name")
        for name in ("a\nb", "x" * 201):
            self.assertEqual(self.add(name=name).status, 422)
        self.detail(self.gateway.ask("/indexes//documents"), 404, "Not Found")
        self.assertEqual({path.parent for path in self.snapshots.iterdir()}, {self.snapshots})


class Lifecycle(Engine):
    def test_52_in_time_after_a_start(self):
        self.made()
        where = self.snapshots / "systemsnapshots" / "1_pod-x" / self.name
        begun = time.monotonic()
        self.good(self.post(f"/persist/{self.name}", path=where))
        self.gateway.stop()
        self.gateway.start()
        started = time.monotonic()
        self.assertIn(self.name, self.gateway.ask("/indexes").json)
        self.assertLess(time.monotonic() - started, 2 * SLOW)
        self.good(self.post(f"/load/{self.name}", path=where, overwrite="true"))
        self.assertLess(time.monotonic() - begun, 30 * SLOW)
        self.assertEqual(self.texts(), [CATS, TOWER, PLANTS])

    def test_52_what_was_acknowledged_survives_a_kill(self):
        self.made()
        self.good(self.update([{"doc_id": id_of(CATS), "text": "Cats purr."}]))
        self.good(self.delete(id_of(TOWER)))
        self.gateway.stop(signal.SIGKILL)
        self.gateway.start()
        self.assertEqual(self.texts(), [PLANTS, "Cats purr."])
        self.assertEqual(self.sources(self.chat("Cats purr.")), ["Cats purr."])


if __name__ == "__main__":
    unittest.main()
