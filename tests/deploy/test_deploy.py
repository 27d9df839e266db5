"""What deploy/ holds fits the program: the image takes the tarball, the dashboard asks for metrics that there are."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"


class Deploy(unittest.TestCase):
    def test_the_image_is_made_of_the_tarball(self):
        said = (DEPLOY / "Dockerfile").read_text()
        self.assertIn("FROM debian:12-slim\n", said)
        self.assertRegex(said, r"ADD plimsoll-\*-linux-\*\.tar\.gz /opt/")

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
