"""Builds and tests the web console in web/. `tools/setup web` brings what it needs.

  python3 tools/web.py build      web/dist, which is committed
  python3 tools/web.py check      types
  python3 tools/web.py test       components
  python3 tools/web.py browser    pages, in Chromium before build/plimsoll
  python3 tools/web.py pictures   the pictures of the manual
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import setup

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "build" / "console" / "pictures"
COMMANDS = {
    "build": ["build"],
    "check": ["check"],
    "test": ["test"],
    "browser": ["browser"],
    "pictures": ["browser", "--", "look"],
}


def main():
    name = sys.argv[1] if len(sys.argv) == 2 else ""
    if name not in COMMANDS:
        raise SystemExit(__doc__)
    if not setup.web_is_there():
        raise SystemExit("web: packages are missing; run tools/setup web")
    npm, env = setup.npm_command()
    env = {"NO_COLOR": "1", "FORCE_COLOR": "0"} | env
    if name == "pictures":
        env["CONSOLE_PICTURES"] = str(PICTURES)
    status = subprocess.run([*npm, "run", "--silent", *COMMANDS[name]], cwd=ROOT / "web", env=os.environ | env, check=False).returncode
    if name == "pictures" and status == 0:
        publish()
    return status


def publish():
    """Copies the pictures that the manual shows."""
    pages = (ROOT / "README.md").read_text() + (ROOT / "docs" / "console.md").read_text()
    (ROOT / "docs" / "console").mkdir(exist_ok=True)
    for picture in sorted(set(re.findall(r"\bconsole/(console-[\w-]+\.png)", pages))):
        shutil.copy(PICTURES / picture, ROOT / "docs" / "console" / picture)


if __name__ == "__main__":
    sys.exit(main())
