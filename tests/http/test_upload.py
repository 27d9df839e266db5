"""`POST /documents`: every kind of file that `plimsoll index add` reads, as a form; and `GET /jobs/{id}`.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. Nothing here leaves
this machine.
"""

import io
import json
import shutil
import signal
import time
import unittest
import zipfile

from chat import TOWER, ChatWithDocuments, form
from gateway import PATIENCE, Gateway, serving
from upstream import Upstream

FACT = "The lighthouse of Plimsoll Point has 414 steps."


def docx(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml",
                         '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p>'
                         f"<w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>")
    return packed.getvalue()


def pdf(text):
    page = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
               b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
               b"/Resources << /Font << /F1 5 0 R >> >> >>",
               b"<< /Length %d >>\nstream\n%s\nendstream" % (len(page), page),
               b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
                  % (len(objects) + 1, table, len(objects) + 1, len(out)))


# By name: the bytes, and the type that the document gets.
KINDS = {
    "plain.txt": (FACT.encode(), "text/plain"),
    "guide.md": (f"# Guide\n\n## Steps\n{FACT}\n".encode(), "text/markdown"),
    "page.html": (f"<html><head><title>Page</title></head><body><h1>Steps</h1><p>{FACT}</p></body></html>".encode(), "text/html"),
    "table.csv": (f'place,fact\nPlimsoll Point,"{FACT}"\n'.encode(), "text/csv"),
    "data.json": (json.dumps({"place": "Plimsoll Point", "fact": FACT}).encode(), "application/json"),
    "lines.jsonl": (f"{json.dumps({'fact': FACT})}\n{json.dumps({'fact': 'none'})}\n".encode(), "application/jsonl"),
    "code.py": (f'def steps():\n    """{FACT}"""\n    return 414\n'.encode(), "text/x-python"),
    "code.cpp": (f"// {FACT}\nint steps() {{ return 414; }}\n".encode(), "text/x-c++"),
    "wide.txt": (FACT.encode("utf-16"), "text/plain"),
    "letter.docx": (docx(FACT), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "paper.pdf": (pdf(FACT), "application/pdf"),
}


class Uploading(ChatWithDocuments):
    def listed(self, index):
        reply = self.gateway.ask(f"/indexes/{index}/documents?limit=100&max_text_length=100000")
        return {one["doc_id"]: one for one in reply.json["documents"]} if reply.status == 200 else {}

    def test_every_kind_is_read(self):
        kinds = {name: kind for name, kind in KINDS.items() if name != "paper.pdf" or shutil.which("pdftotext")}
        job = self.uploaded(("index", "kinds"), ("metadata", '{"shelf": "A", "year": 1876}'),
                            *(("file", name, data) for name, (data, _) in kinds.items()))
        self.assertEqual((job["status"], job["errors"]), ("done", []))
        self.assertEqual(job["documents"], {"total": len(kinds), "done": len(kinds), "added": len(kinds), "updated": 0,
                                            "unchanged": 0, "failed": 0})
        self.assertGreaterEqual(job["chunks"], len(kinds))
        self.assertGreaterEqual(job["sentences"], 1)
        found = self.listed("kinds")
        self.assertEqual(set(found), set(kinds))
        for name, (_, media_type) in kinds.items():
            with self.subTest(name=name):
                self.assertIn("414 steps", found[name]["text"])
                metadata = found[name]["metadata"]
                self.assertEqual((metadata["shelf"], metadata["year"], metadata["name"]), ("A", 1876, name))
                self.assertEqual(metadata["type"], media_type)
        answer = self.good(self.say("How many steps has the lighthouse?", collection_id="kinds"))
        self.assertIn("414 steps", answer["chunks"][0]["content"])

    def test_a_job_is_accepted_and_followed(self):
        reply = self.upload(("collection_id", "followed"), ("file", "a.txt", FACT))
        accepted = self.good(reply, 202)
        self.assertEqual((accepted["status"], accepted["index"], accepted["documents"]), ("queued", "followed", 1))
        job = self.until(f"/jobs/{accepted['job_id']}", lambda body: body["status"] == "done")
        self.assertEqual((job["job_id"], job["index"], job["documents"]["added"]), (accepted["job_id"], "followed", 1))
        self.assertGreaterEqual(job["ended_ms"], job["created_ms"])
        self.assertEqual(set(self.listed("followed")), {"a.txt"})

    def test_the_same_again_is_unchanged_and_another_replaces_it(self):
        for text, metadata, fate in [(FACT, "{}", "added"), (FACT, "{}", "unchanged"), (FACT, '{"a": 1}', "updated"),
                                     (TOWER, '{"a": 1}', "updated")]:
            job = self.uploaded(("index", "again"), ("metadata", metadata), ("file", "a.txt", text))
            self.assertEqual(job["documents"][fate], 1, (fate, job))
        found = self.listed("again")
        self.assertEqual([one["text"] for one in found.values()], [TOWER])

    def test_what_cannot_be_read_is_named_and_the_rest_goes_in(self):
        job = self.uploaded(("index", "mixed"), ("file", "broken.pdf", b"%PDF-1.7\nno PDF"), ("file", "good.txt", FACT),
                            ("file", "binary.bin", bytes(range(256)) * 20))
        self.assertEqual((job["status"], job["documents"]["failed"], job["documents"]["added"]), ("done", 2, 1))
        self.assertEqual({one["document"] for one in job["errors"]}, {"broken.pdf", "binary.bin"})
        self.assertEqual(set(self.listed("mixed")), {"good.txt"})
        job = self.uploaded(("index", "never-made"), ("file", "binary.bin", bytes(range(256)) * 20))
        self.assertEqual(job["status"], "failed")
        self.assertNotIn("never-made", self.gateway.ask("/indexes").json)

    def test_names_are_only_names(self):
        outside = self.gateway.folder.parent / "plimsoll-upload-escaped.txt"
        before = sorted(path for path in self.gateway.folder.rglob("*") if path.suffix == ".txt")
        names = ["../plimsoll-upload-escaped.txt", str(outside), "..\\..\\x.txt", "/etc/passwd", "%2e%2e/x.txt", "naïve ⚓.txt"]
        job = self.uploaded(("index", "names"), *(("file", name, FACT) for name in names))
        self.assertEqual((job["status"], job["documents"]["added"]), ("done", len(names)))
        self.assertEqual(set(self.listed("names")), set(names))
        self.assertNotIn("root:", json.dumps(self.listed("names")))
        self.assertFalse(outside.exists())
        self.assertEqual(sorted(path for path in self.gateway.folder.rglob("*") if path.suffix == ".txt"), before)

    def test_a_body_in_any_pieces(self):
        content_type, body = form(("index", "pieces"), ("file", "a.txt", f"{FACT}\r\n--x\r\n"), boundary="xyz")
        for size in (1, 7, 64):
            head = (f"POST /documents?wait=1 HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\n"
                    f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n").encode()
            with self.gateway.dial(head) as line:
                for at in range(0, len(body), size):
                    line.sendall(body[at:at + size])
                answer = b""
                while piece := line.recv(65536):
                    answer += piece
            self.assertIn(b'"status":"done"', answer)
        self.assertEqual(self.listed("pieces")["a.txt"]["text"].strip(), f"{FACT}\r\n--x")

    def test_bad_forms_are_refused_and_write_nothing(self):
        before = self.gateway.ask("/indexes").json
        good = ("index", "bad"), ("file", "a.txt", FACT)
        content_type, body = form(*good, boundary="b")
        for kind, data, status, words in [
                ("application/json", b"{}", 415, "multipart/form-data"), ("multipart/form-data", body, 400, "boundary"),
                (content_type, body[:-4], 400, "no end"), (content_type, b"", 400, "has no boundary"),
                (content_type, body.replace(b'name="index"', b'nam="index"'), 400, "Content-Disposition"),
                (content_type, body.replace(b'name="index"', b'x="' + b"y" * 9000), 400, "8192 bytes"),
                ("multipart/form-data; boundary=" + "b" * 71, body, 400, "71 characters")]:
            with self.subTest(words=words):
                reply = self.gateway.ask("/documents", data, method="POST", headers={"Content-Type": kind})
                self.assertEqual(reply.status, status, reply.body)
                self.assertIn(words, reply.json["detail"])
        cases = [((("file", "a.txt", FACT),), "missing", "index"), ((("index", "bad"),), "missing", "file"),
                 ((("index", ""), good[1]), "string_too_short", "index"), ((("index", "a\nb"), good[1]), "value_error", "index"),
                 ((("index", b"\xff"), good[1]), "value_error", "index"), ((*good, ("collection_id", "other")), "value_error", "collection_id"),
                 ((*good, good[1]), "value_error", "file"), ((good[0], ("file", "", FACT)), "value_error", "file"),
                 ((good[0], ("file", "x" * 501, FACT)), "value_error", "file"), ((*good, ("metadata", "[1]")), "dict_type", "metadata"),
                 ((*good, ("metadata", "{")), "dict_type", "metadata"), ((*good, ("metadata", "[" * 200)), "dict_type", "metadata"),
                 ((*good, ("colour", "red")), "extra_forbidden", "colour")]
        for parts, kind, field in cases:
            with self.subTest(kind=kind, field=field):
                self.complaint(self.upload(*parts), kind, "body", field)
        self.assertEqual(self.upload(*good, query="?wait=perhaps").status, 422)
        self.assertEqual(self.gateway.ask("/jobs/nothing").json, {"detail": "There is no job 'nothing'."})
        self.assertEqual(self.gateway.ask("/jobs/nothing").status, 404)
        self.assertEqual(self.gateway.ask("/documents").status, 405)
        self.assertEqual(self.gateway.ask("/indexes").json, before)


class Bounds(ChatWithDocuments):
    SETTINGS = {"max_upload_jobs": 1, "max_upload_bytes": 400_000, "max_document_bytes": 300_000}

    def test_the_queue_and_its_bytes_are_bounded(self):
        too_large = self.upload(("index", "bounds"), ("file", "a.txt", "x" * 400_000))
        self.assertEqual(too_large.status, 413)
        self.assertIn("max_upload_bytes", too_large.json["detail"])
        document = self.uploaded(("index", "bounds"), ("file", "a.txt", "x" * 300_001))
        self.assertIn("max_document_bytes", document["errors"][0]["error"])
        words = " ".join(f"Ship {number} has {number} masts." for number in range(4000))
        first = self.good(self.upload(("index", "bounds"), ("file", "long.txt", words)), 202)
        second = self.upload(("index", "bounds"), ("file", "b.txt", FACT))
        self.assertEqual(second.status, 429, second.body)
        self.assertIn("max_upload_jobs", second.json["detail"])
        self.assertIn("retry-after", second.headers)
        self.until(f"/jobs/{first['job_id']}", lambda body: body["status"] == "done")
        self.uploaded(("index", "bounds"), ("file", "b.txt", FACT))


class Killed(unittest.TestCase):
    def test_a_job_that_is_done_is_on_disk_and_one_that_is_not_says_so(self):
        with Upstream({"gpt-4o": 8192}) as upstream:
            gateway = Gateway(upstream)
            self.addCleanup(gateway.close)

            def send(name, text, query=""):
                content_type, body = form(("index", "killed"), ("file", name, text))
                return gateway.ask("/documents" + query, body, headers={"Content-Type": content_type})

            for number in range(3):
                self.assertEqual(send(f"{number}.txt", f"{number} {FACT}", "?wait=true").json["status"], "done")
                gateway.stop(signal.SIGKILL)
                gateway.start()
                found = [one["doc_id"] for one in gateway.ask("/indexes/killed/documents").json["documents"]]
                self.assertEqual(found, [f"{i}.txt" for i in range(number + 1)])
            job = send("long.txt", " ".join(f"Ship {i} has {i} masts." for i in range(20000))).json["job_id"]
            until = time.monotonic() + PATIENCE
            while gateway.ask(f"/jobs/{job}").json["status"] != "running" and time.monotonic() < until:
                time.sleep(0.01)
            gateway.stop(signal.SIGKILL)
            gateway.start()
            shown = gateway.ask(f"/jobs/{job}").json
            self.assertEqual(shown["status"], "interrupted")
            self.assertIn("send them again", shown["errors"][-1]["error"])

    def test_an_orderly_end_does_not_wait_for_a_long_job(self):
        with Upstream({"gpt-4o": 8192}) as upstream, serving(upstream) as gateway:
            content_type, body = form(("index", "long"), ("file", "long.txt",
                                                          " ".join(f"Ship {i} has {i} masts." for i in range(40000))))
            job = gateway.ask("/documents", body, headers={"Content-Type": content_type}).json["job_id"]
            begun = time.monotonic()
            gateway.stop()
            self.assertLess(time.monotonic() - begun, PATIENCE / 2)
            gateway.start()
            self.assertIn(gateway.ask(f"/jobs/{job}").json["status"], ("interrupted", "done"))


if __name__ == "__main__":
    unittest.main()
