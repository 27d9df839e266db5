"""Builds and tests the web console in web/. `tools/setup web` brings what it needs.

  python3 tools/web.py build      web/dist, which is committed
  python3 tools/web.py types      web/src/api/schemas.ts, from the /openapi.json of build/plimsoll
  python3 tools/web.py check      types
  python3 tools/web.py test       components
  python3 tools/web.py browser    pages, in Chromium before build/plimsoll
  python3 tools/web.py pictures   the pictures of the manual
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import setup
import web_types

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "web" / "src" / "api" / "schemas.ts"
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
    if name == "types":
        SCHEMAS.write_text(web_types.typescript(described()))
        return 0
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


def described():
    """What build/plimsoll says of its routes."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-types-") as folder:
        env = os.environ | {"XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder}
        command = [ROOT / "build" / "plimsoll", "--set", f"store_file={folder}/store.db", "--set", "embedded_model=false",
                   "serve", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=folder, text=True) as gateway:
            try:
                address = gateway.stdout.readline().rsplit(" listens on ", 1)[-1].strip()
                with urllib.request.urlopen(f"{address}/openapi.json", timeout=60) as reply:
                    return json.load(reply)
            finally:
                gateway.terminate()


def publish():
    """Copies the pictures that the manual shows."""
    pages = (ROOT / "README.md").read_text() + (ROOT / "docs" / "console.md").read_text()
    (ROOT / "docs" / "console").mkdir(exist_ok=True)
    for picture in sorted(set(re.findall(r"\bconsole/(console-[\w-]+\.png)", pages))):
        shutil.copy(PICTURES / picture, ROOT / "docs" / "console" / picture)


if __name__ == "__main__":
    sys.exit(main())
