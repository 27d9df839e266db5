"""Every kind of file that the program opens, damaged: at its header, byte for byte, and at random places.

What is derived (compiled tokenizers, files of an index) is made anew and answers as before. What is not (stores, snapshots, settings,
documents, definitions) is refused with a clear error, or read as far as it is sound; a snapshot that is damaged replaces nothing. Nothing
ends by a signal, and nothing hangs.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it; set-up must have brought the embedder. PLIMSOLL_CORRUPTIONS says how many cases
there are in all; the full tests take 2,400.
"""

import http.client
import http.server
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
import zipfile
from pathlib import Path

PROGRAM = os.environ.get("PLIMSOLL_BIN") or shutil.which("plimsoll") or "plimsoll"
CASES = int(os.environ.get("PLIMSOLL_CORRUPTIONS") or 240)
SLOW = float(os.environ.get("PLIMSOLL_SLOWER") or 4)
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "plimsoll"
TEXTS = {"ship.md": "# Lines\n\nThe load line is amidships.\n\n## Cargo\n\nShe carries tea and tin.\n",
         "cats.txt": "Cats are small furry animals.\n", "law.html": "<h1>Law</h1><p>A fine of 77 crowns is due.</p>"}


def front_of(path):
    with path.open("rb") as file:
        return file.read(6 << 20)


class Damage:
    """Copies of a file, each damaged in another way: every second one in the next of its first bytes, the others anywhere."""

    def __init__(self, bytes_, seed, header=128):
        self.bytes, self.random, self.header = bytes_, random.Random(seed), min(header, len(bytes_))
        self.number = 0

    def next(self):
        data, pick = bytearray(self.bytes), self.random
        at, is_anywhere = divmod(self.number, 2)
        self.number += 1
        if at < self.header and not is_anywhere:
            data[at] ^= 1 << pick.randrange(8)
            return bytes(data)
        way = pick.randrange(6)
        place = pick.randrange(len(data))
        if way == 0:
            return bytes(data[:place])
        if way == 1:
            size = pick.choice((16, 512, 4096))
            data[place:place + size] = bytes(len(data[place:place + size]))
        elif way == 2:
            size = pick.choice((4, 64, 4096))
            data[place:place + size] = pick.randbytes(len(data[place:place + size]))
        elif way == 3:
            data[place:place + 8] = b"\xff" * len(data[place:place + 8])
        elif way == 4:
            data += pick.randbytes(pick.randrange(1, 100))
        else:
            data[place] ^= 1 << pick.randrange(8)
        return bytes(data)


class Corruption(unittest.TestCase):
    SHARE = 1 / 8  # of all cases, for each kind

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="plimsoll-damage-")))
        cls.env = {name: value for name, value in os.environ.items() if not name.startswith("PLIMSOLL_")}
        cls.env |= {"XDG_CONFIG_HOME": str(cls.folder), "XDG_DATA_HOME": str(cls.folder), "no_proxy": "127.0.0.1"}
        for name, text in TEXTS.items():
            (cls.folder / name).write_text(text)

    @property
    def cases(self):
        return range(max(6, round(CASES * self.SHARE)))

    def run_it(self, *arguments, status=None, store="store.db"):
        done = subprocess.run([PROGRAM, "--set", f"store_file={self.folder / store}", *map(str, arguments)], env=self.env, cwd=self.folder,
                              capture_output=True, timeout=30 * SLOW, check=False)
        said = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
        self.assertGreaterEqual(done.returncode, 0, f"{arguments} ended by signal {-done.returncode}: {said[-2000:]}")
        self.assertNotIn("terminate called", said)
        if status is not None:
            self.assertEqual(done.returncode, status, said)
        elif done.returncode:
            self.assertTrue(said.strip(), f"{arguments} failed and said nothing")
        return done.returncode, done.stdout.decode(errors="replace"), said

    def test_compiled_tokenizers_are_made_anew(self):
        tokenizers = self.folder / "tokenizers"
        text = self.folder / "text.txt"
        text.write_text("The Plimsoll line, naïve and 1,876 times repainted. " * 20)

        def count(status=0):
            return self.run_it("--set", f"tokenizer_dir={tokenizers}", "count", "--tokenizer", "smollm2", "--json", text, status=status)[1]

        right = count()
        file, = tokenizers.glob("smollm2-*.ptok")
        damage = Damage(file.read_bytes(), 11, header=320)
        for case in self.cases:
            damaged = damage.next()
            file.write_bytes(damaged)
            with self.subTest(case=case):
                self.assertEqual(count(), right)
                self.assertEqual(file.read_bytes(), damage.bytes, "it was not made anew")

    def test_files_of_an_index_are_made_anew(self):
        def search():
            return json.loads(self.run_it("search", "docs", "load line", "--json", status=0)[1])["passages"]

        self.run_it("index", "add", "docs", *TEXTS, "--quiet", status=0)
        right = search()
        files = sorted((self.folder / "store.db.indexes").rglob("*.index"))
        self.assertGreaterEqual(len(files), 2)
        damages = [Damage(file.read_bytes(), 12) for file in files]
        for case in self.cases:
            file, damage = files[case % len(files)], damages[case % len(files)]
            file.write_bytes(damage.next())
            with self.subTest(case=case, file=file.name):
                self.assertEqual(search(), right)
            file.write_bytes(damage.bytes)

    def test_a_damaged_store_is_told_or_read(self):
        self.run_it("index", "add", "docs", *TEXTS, "--quiet", status=0, store="whole.db")
        self.run_it("memory", "add", "Ann likes tea", store="whole.db")
        damage = Damage((self.folder / "whole.db").read_bytes(), 13)
        for case in self.cases:
            (self.folder / "broken.db").write_bytes(damage.next())
            for ending in ("-wal", "-shm"):
                (self.folder / ("broken.db" + ending)).unlink(missing_ok=True)
            shutil.rmtree(self.folder / "broken.db.indexes", ignore_errors=True)
            with self.subTest(case=case):
                self.run_it(*(("search", "docs", "load line"), ("index", "verify", "docs"), ("usage",), ("memory", "list"),
                              ("index", "add", "docs", "ship.md", "--quiet"), ("keys", "list"))[case % 6], store="broken.db")

    def test_settings_are_told(self):
        damage = Damage(b'store_file = "x.db"\nlog_level = "debug"\nmax_history_turns = 12\nupstreams = ["http://127.0.0.1:9"]\n', 14)
        for case in self.cases:
            (self.folder / "plimsoll.toml").write_bytes(damage.next())
            with self.subTest(case=case):
                status, _, said = self.run_it("--config", "plimsoll.toml", "config", "store_file")
                self.assertIn(status, (0, 2), said)

    def test_documents_are_skipped_and_told(self):
        word = self.folder / "word.docx"
        with zipfile.ZipFile(word, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>')
            made.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
                          "<w:p><w:r><w:t>The load line is amidships.</w:t></w:r></w:p></w:body></w:document>")
        pdf = (b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
               b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
               b"4 0 obj<</Length 55>>stream\nBT /F1 12 Tf 10 100 Td (The load line is amidships.) Tj ET\nendstream endobj\n"
               b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
        kinds = {"a.docx": Damage(word.read_bytes(), 15), "a.pdf": Damage(pdf, 16), "a.html": Damage(TEXTS["law.html"].encode(), 17),
                 "a.json": Damage(b'{"a": [1, {"b": "The load line"}]}', 18)}
        for case in self.cases:
            name = list(kinds)[case % len(kinds)]
            (self.folder / name).write_bytes(kinds[name].next())
            with self.subTest(case=case, file=name):
                self.run_it("count", name, "--tokenizer", "smollm2")

    def test_definitions_of_tokenizers_are_told(self):
        """A tokenizer.json, a .tiktoken, a SentencePiece model and the front of a GGUF."""
        assets = CACHE / "assets"
        fronts = [max((assets / name).iterdir(), key=lambda path: path.stat().st_size) for name in ("claude-legacy", "r50k_base", "mistral-v3", "smollm2")]
        damages = {path.name: Damage(front_of(path), 19, header=64) for path in fronts}
        for case in list(self.cases)[:100]:
            name = list(damages)[case % len(damages)]
            (self.folder / name).write_bytes(damages[name].next())
            with self.subTest(case=case, file=name):
                self.run_it("--set", f"tokenizer_dir={self.folder / 'defined'}", "count", "ship.md", "--tokenizer-file", name)

    def own_cache(self):
        """A cache folder for one test, with the tokenizers of this machine; its assets can be replaced one by one."""
        cache = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="plimsoll-cache-"))) / "plimsoll"
        (cache / "assets").mkdir(parents=True)
        for asset in (CACHE / "assets").iterdir():
            (cache / "assets" / asset.name).symlink_to(asset)
        (cache / "tokenizers").symlink_to(CACHE / "tokenizers")
        self.env["XDG_CACHE_HOME"] = str(cache.parent)
        self.addCleanup(self.env.pop, "XDG_CACHE_HOME")
        return cache

    def own_copy(self, asset):
        """The folder of an asset, whose files may be damaged."""
        folder = self.own_cache() / "assets" / asset
        folder.unlink()
        shutil.copytree(CACHE / "assets" / asset, folder)
        return folder

    def test_weights_are_refused(self):
        folder = self.own_copy("all-minilm-l6-v2")
        self.run_it("index", "add", "near", *TEXTS, "--quiet", status=0)
        self.assertNotIn("damaged", self.run_it("search", "near", "cargo of a ship", status=0)[2])
        files = [folder / "model.onnx", folder / "model.onnx", folder / "tokenizer.json"]
        damages = {file: Damage(file.read_bytes(), 23) for file in files}
        for case in self.cases:
            file = files[case % len(files)]
            damaged = damages[file].next()
            file.write_bytes(damaged)
            with self.subTest(case=case, file=file.name):
                told = self.run_it("search", "near", "cargo of a ship", status=0)[2]
                self.assertEqual(f"{file.name} is damaged" in told, damaged != damages[file].bytes, told)
                if case % 5 == 0:
                    told = self.run_it("doctor", "--json")[1]
                    found = {check["check"]: check for check in json.loads(told)["checks"]}[f"{file.name} of all-minilm-l6-v2"]
                    self.assertEqual(found["status"], "bad" if damaged != damages[file].bytes else "ok", told)
            file.write_bytes(damages[file].bytes)
        self.assertNotIn("damaged", self.run_it("search", "near", "cargo of a ship", status=0)[2])

    def test_what_a_disk_changes_is_found_by_doctor(self):
        """Nothing was written, so size and times are as before: what is noted of the file is that of the damaged one."""
        file = self.own_copy("all-minilm-l6-v2") / "model.onnx"
        right = file.read_bytes()
        self.run_it("index", "add", "disk", *TEXTS, "--quiet", status=0)
        for note in (file.parents[2] / "checked").iterdir():
            if note.read_text().startswith(f"{len(right)} "):
                noted = note
        damaged = bytearray(right)
        damaged[len(right) // 2] ^= 1
        file.write_bytes(damaged)
        state = file.stat()
        noted.write_text(f"{state.st_size} {state.st_mtime_ns} {state.st_ctime_ns} {noted.read_text().split()[3]}\n")
        self.assertNotIn("damaged", self.run_it("search", "disk", "cargo", status=0)[2])
        self.assertIn("model.onnx is damaged", " ".join(self.run_it("doctor", status=1)[2].split()))
        self.assertIn("model.onnx is damaged", self.run_it("search", "disk", "cargo", status=0)[2])

    def test_weights_of_models_are_refused(self):
        file = next(self.own_copy("smollm2").glob("*.gguf"))
        damages = {file: Damage(file.read_bytes(), 24)}
        other = CACHE / "models" / "e5-small-q4.bin"
        if other.exists():
            copy = file.parents[2] / "models" / other.name
            copy.parent.mkdir()
            shutil.copy(other, copy)
            damages[copy] = Damage(copy.read_bytes(), 25)
        for case in list(self.cases)[:12]:
            damaged_file = list(damages)[case % len(damages)]
            damage = damages[damaged_file]
            damaged = damage.next()
            damaged_file.write_bytes(damaged)
            if len(damaged) == len(damage.bytes) and damaged != damage.bytes:  # one of another size is not that model
                with self.subTest(case=case, file=damaged_file.name):
                    told = self.run_it("--set", "embedders=multilingual-e5-small", "doctor", status=1)[1]
                    self.assertIn(f"{damaged_file.name} is damaged", " ".join(told.split()))
                    if damaged_file == file and case < 4:
                        told = self.run_it("ask", "Ahoy!", "--upstream", "embedded", status=1)[2]
                        self.assertIn("is damaged", told)
            damaged_file.write_bytes(damage.bytes)

    def test_a_models_file_is_told(self):
        damage = Damage(b'[[model]]\nname = "my-model"\nwindow = 9000\ntokenizer = "o200k_base"\nspecials = "parsed"\nsource = "me"\n', 26)
        for case in self.cases:
            (self.folder / "own.toml").write_bytes(damage.next())
            with self.subTest(case=case):
                status, _, said = self.run_it("--set", "models_file=own.toml", "models", "my-model", "--json")
                self.assertIn(status, (0, 1, 2), said)

    def test_windows_that_were_kept_are_found_anew(self):
        cache = self.own_cache()
        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Models))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)

        def window(*model):
            told = self.run_it("models", *model, "--upstream", f"http://127.0.0.1:{server.server_port}", "--json", status=0)[1]
            return [(one["name"], one["window"]["tokens"]) for one in json.loads(told)["models"]]

        right = [("gpt-4o", 8192)]
        self.assertEqual(window(), right)
        kept = cache / "windows.json"
        damage = Damage(kept.read_bytes(), 20)
        self.assertEqual(damage.bytes.count(b"8192"), 2)
        self.assertEqual(self.run_it("models", "gpt-4o", "--upstream", f"http://127.0.0.1:{server.server_port}", status=0)[2].count("damaged"), 0)
        for case in self.cases:
            kept.write_bytes(damage.next() if case else damage.bytes.replace(b"8192", b"9192"))
            with self.subTest(case=case):
                self.assertEqual(window("gpt-4o"), right)  # of one model the file is believed for an hour
                self.assertEqual(window(), right)  # of all of a server it is not


class Models(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path == "/v1/models"
        body = json.dumps({"object": "list", "data": [{"id": "gpt-4o", "object": "model", "owned_by": "vllm", "max_model_len": 8192}]}
                          if known else {"detail": "Not Found"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Snapshots(Corruption):
    """Over a gateway, which loads them all; the index that is in the way stays as it is unless the new one is sound."""

    def setUp(self):
        self.process = subprocess.Popen([PROGRAM, "--set", f"store_file={self.folder / 'served.db'}", "--set", "embedded_model=false",
                                         "serve", "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:9"], env=self.env,
                                        cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        self.port = int(self.process.stdout.readline().decode().rsplit(":", 1)[1])

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30 * SLOW)
        self.process.stdout.close()

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30 * SLOW)
        try:
            connection.request("POST" if body is not None else "GET", path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
        finally:
            connection.close()

    def documents(self):
        listed = self.ask("/indexes/docs/documents?limit=100&max_text_length=1000")[1]
        return sorted(one["text"] for one in listed["documents"])

    def test_a_damaged_snapshot_replaces_nothing(self):
        texts = [{"text": f"Document {number} of the log. " + "The sea was calm. " * number} for number in range(12)]
        self.assertEqual(self.ask("/index", {"index_name": "docs", "documents": texts})[0], 200)
        status, said = self.ask("/persist/docs", {})
        self.assertEqual(status, 200, said)
        right = self.documents()
        file = next(self.folder.rglob("plimsoll-index.db"))
        sums = file.with_name("plimsoll-index.sums")
        self.assertTrue(sums.exists())
        damage, of_sums = Damage(file.read_bytes(), 21), Damage(sums.read_bytes(), 22)
        loaded, unsummed = 0, 0
        for case in self.cases:
            if case % 8 == 7:
                sums.write_bytes(of_sums.next())
            else:
                file.write_bytes(damage.next())
            if case % 5 == 4:
                sums.unlink()  # as of a program that wrote none
                unsummed += 1
            status, said = self.ask("/load/docs?overwrite=true", {})
            loaded += status == 200 and case % 8 != 7  # damaged sums of a right file may let it in
            if sums.exists() and file.read_bytes() != damage.bytes:
                self.assertNotEqual(status, 200, "a file that fails its checksum was loaded")
            with self.subTest(case=case):
                self.assertIsNone(self.process.poll(), "the gateway ended")
                self.assertTrue(status == 200 or said["detail"], said)
                if case % 5 != 4 or status != 200:
                    self.assertEqual(self.documents(), right, f"{status} {said}")
                else:
                    self.assertEqual(len(self.documents()), len(right))
            file.write_bytes(damage.bytes)
            sums.write_bytes(of_sums.bytes)
            for ending in ("-wal", "-shm"):
                file.with_name(file.name + ending).unlink(missing_ok=True)
            if case % 5 == 4 and status == 200:  # whatever it was: the right one again
                self.assertEqual(self.ask("/load/docs?overwrite=true", {})[0], 200)
        self.assertLessEqual(loaded, unsummed)
        self.assertEqual(self.ask("/load/docs?overwrite=true", {})[0], 200)
        self.assertEqual(self.documents(), right)


for _name in [name for name in dir(Corruption) if name.startswith("test_")]:
    setattr(Snapshots, _name, None)

if __name__ == "__main__":
    unittest.main()
