"""What deploy/ holds fits the program: the image has its libraries, the dashboard asks for metrics that there are."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"


def lines_of(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout.splitlines()


class Deploy(unittest.TestCase):
    def test_the_image_installs_every_library_that_the_program_links(self):
        program = shutil.which("plimsoll")
        self.assertIsNotNone(program, "build/ must be on the PATH")
        needed = {name for line in lines_of("objdump", "-p", program) for name in re.findall(r"NEEDED\s+(\S+)", line)}
        paths = {found[1]: found[2] for line in lines_of("ldd", program) if (found := re.match(r"\s*(\S+) => (/\S+)", line))}
        self.assertGreater(len(needed), 10)
        base = {"libc6", "libstdc++6", "libgcc-s1"}  # part of the base image, or drawn in by every other package
        installed = set((DEPLOY / "Dockerfile").read_text().replace("\\", " ").split())
        for name in sorted(needed - {"ld-linux-x86-64.so.2"}):
            path = str(Path(paths[name]).resolve())
            owners = set()
            for spelling in (path, path.removeprefix("/usr")):
                found = subprocess.run(["dpkg", "-S", spelling], capture_output=True, text=True, check=False).stdout
                owners |= {line.split(":")[0] for line in found.splitlines()}
            self.assertTrue(owners & (installed | base), f"{name} belongs to {owners}, which deploy/Dockerfile does not install")

    def test_the_dashboard_and_the_manual_name_the_metrics_that_there_are(self):
        told = set(re.findall(r'add\(out, "(\w+)"', (ROOT / "src" / "gateway" / "admin" / "metrics.cpp").read_text()))
        asked = set(re.findall(r"plimsoll_(\w+)\[", (DEPLOY / "grafana.json").read_text()))
        self.assertGreater(len(asked), 8)
        self.assertEqual(asked - told, set())
        documented = set(re.findall(r"`plimsoll_(\w+)`", (ROOT / "docs" / "operate.md").read_text()))
        self.assertEqual(told, documented)
        panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
        self.assertTrue(all(panel["targets"] for panel in panels))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "needs systemd-analyze")
    def test_the_service_is_well_formed(self):
        unit = (DEPLOY / "plimsoll.service").read_text()
        done = subprocess.run(["systemd-analyze", "verify", str(DEPLOY / "plimsoll.service")], capture_output=True, text=True, check=False)
        complaints = [line for line in done.stderr.splitlines() if "is not executable" not in line]
        self.assertEqual(complaints, [])
        self.assertIn("NoNewPrivileges=yes", unit)


if __name__ == "__main__":
    unittest.main()
