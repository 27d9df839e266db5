"""The man page and the completions, held against the commands that there are."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = shutil.which("plimsoll") or "plimsoll"


def run(*arguments, status=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def commands():
    """Every command by its words, with the help of it, as the program itself tells."""
    found = {}

    def walk(path):
        text = run(*path, "--help")
        found[tuple(path)] = text
        listing = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
        for name in re.findall(r"^  (\w+) ", listing, re.MULTILINE):
            walk([*path, name])
    walk([])
    return found


def long_options(text):
    return set(re.findall(r"^  (?:-\w,)?(--[a-z][\w-]*)", text, re.MULTILINE))


class Described(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()

    def test_there_are_commands_to_hold_them_against(self):
        self.assertGreater(len(self.commands), 30)
        self.assertGreater(len(long_options(self.commands[("serve",)])), 5)
        self.assertIn(("index", "add"), self.commands)

    def test_the_man_page_has_every_command_and_option(self):
        page = run("man").replace("\\-", "-")
        for path, text in self.commands.items():
            if not path:
                continue
            heading = f'.SS "plimsoll {" ".join(path)}"\n'
            self.assertIn(heading, page)
            section = page.partition(heading)[2].partition("\n.SS ")[0]
            for option in long_options(text):
                self.assertIn(f"\\fB{option}\\fR", section, path)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_the_man_page_is_sound(self):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=run("man"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def completed(self, *words):
        """What bash offers for the last of these words."""
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "plimsoll"
            script.write_text(run("completions", "bash"))
            line = " ".join(f"'{word}'" for word in words)
            done = subprocess.run(["bash", "--norc", "-c", f"source {script}; COMP_WORDS=(plimsoll {line}); COMP_CWORD={len(words)}; _plimsoll; "
                                   'printf "%s\\n" "${COMPREPLY[@]}"'], capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "")
            return set(done.stdout.split())

    def test_bash_offers_every_command_and_option(self):
        for path, text in self.commands.items():
            self.assertEqual(long_options(text) - self.completed(*path, "--"), set(), path)
            below = {other[-1] for other in self.commands if other and other[:-1] == path}
            self.assertEqual(below - self.completed(*path, ""), set(), path)

    def test_bash_knows_values(self):
        self.assertEqual(self.completed("ser"), {"serve"})
        self.assertEqual(self.completed("--set", "index", "mod"), {"model", "models"}, "a value is not a command")
        self.assertEqual(self.completed("serve", "--listen", ""), set())
        with_choices = [(path, option) for path, text in self.commands.items()
                        for option in re.findall(r"^  (--[\w-]+) \w+\|", text, re.MULTILINE)]
        self.assertTrue(with_choices)
        for path, option in with_choices:
            self.assertGreater(len(self.completed(*path, option, "")), 1, (path, option))

    def test_zsh_and_fish_have_every_command_and_option(self):
        zsh, fish = run("completions", "zsh"), run("completions", "fish")
        self.assertTrue(zsh.startswith("#compdef plimsoll\n"))
        for path, text in self.commands.items():
            function = "_".join(["_plimsoll", *path]) + "() {\n"
            self.assertIn(function, zsh)
            body = zsh.partition(function)[2].partition("\n}\n")[0]
            lines = [line for line in fish.splitlines() if line.startswith(f"complete -c plimsoll -n '__plimsoll_at \\'{' '.join(path)}\\''")]
            for option in long_options(text):
                self.assertIn(option + "[", body, path)
                self.assertTrue(any(f" -l {option[2:]} " in line for line in lines), (path, option))

    @unittest.skipUnless(shutil.which("zsh"), "needs zsh")
    def test_zsh_reads_its_script(self):
        done = subprocess.run(["zsh", "-n"], input=run("completions", "zsh"), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("fish"), "needs fish")
    def test_fish_reads_its_script(self):
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "plimsoll.fish"
            script.write_text(run("completions", "fish"))
            for typed, offered in (("plimsoll index a", "add"), ("plimsoll mod", "model models"), ("plimsoll model get --he", "--help"),
                                   ("plimsoll serve --ups", "--upstream")):
                done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'"], capture_output=True, text=True,
                                      check=False, env=os.environ | {"HOME": folder})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], offered.split())

    def test_hidden_commands_stay_hidden_and_refuse_what_they_do_not_know(self):
        self.assertNotIn("completions", run("--help"))
        self.assertIn("bash, zsh and fish", run("completions", "tcsh", status=2))


if __name__ == "__main__":
    unittest.main()
