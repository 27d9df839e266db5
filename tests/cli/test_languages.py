"""Documents in other languages, as a user meets them: words are found in other forms than they are written in.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("PLIMSOLL_BIN", "plimsoll")
TEXTS = {
    "de.md": "Die Netzwerkkarten des Rechners werden von dem Kern erkannt, und die Treiber werden dann geladen.\n\n"
             "Der Drucker ist mit einem Kabel an den Rechner angeschlossen, der in der Kammer ist.\n",
    "fr.md": "Les imprimantes sont configurées par un service de la machine, et les réglages ne sont pas changés.\n\n"
             "Le noyau est chargé au démarrage de la machine, qui est dans une cave.\n",
    "es.md": "Las configuraciones de los equipos se guardan en un archivo que es leído por el servicio.\n\n"
             "El barco sale a las nueve de la mañana, y no hay otro hasta la tarde.\n",
    "ja.md": "ネットワークの設定は管理者が行います。\n\nプリンタは部屋にあります。鍵を管理する人がいます。\n",
    "en.md": "The ferries leave at nine, and they are often late.\n\nThe cook of the Aurora is called Bertil.\n",
}


class Languages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="plimsoll-languages-")))
        for name, text in TEXTS.items():
            (cls.folder / name).write_text(text, encoding="utf-8")
        cls.run_it("index", "add", "texts", *TEXTS, "--no-embedder", "--quiet")

    @classmethod
    def run_it(cls, *arguments):
        done = subprocess.run([PROGRAM, "--set", f"store_file={cls.folder / 'store.db'}", *arguments], cwd=cls.folder,
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise AssertionError(f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def best(self, query):
        passages = json.loads(self.run_it("search", "texts", query, "--budget", "60", "--json", "--order", "best-first"))["passages"]
        self.assertTrue(passages, query)
        return passages[0]["document"].rpartition("/")[2], passages[0]["text"]

    def test_words_are_found_in_other_forms(self):
        for query, document, words in [("Wie wird eine Netzwerkkarte erkannt?", "de.md", "Netzwerkkarten"),
                                       ("Netzwerkkarte", "de.md", "Netzwerkkarten"),
                                       ("Comment configurer une imprimante ?", "fr.md", "configurées"),
                                       ("¿Dónde se guarda la configuración?", "es.md", "configuraciones"),
                                       ("ネットワークを設定するには？", "ja.md", "ネットワーク"),
                                       ("鍵", "ja.md", "鍵"),
                                       ("When does the ferry leave?", "en.md", "ferries")]:
            with self.subTest(query):
                found, text = self.best(query)
                self.assertEqual(found, document)
                self.assertIn(words, text)


if __name__ == "__main__":
    unittest.main()
