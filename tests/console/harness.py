"""A gateway in front of a false model server, or of the embedded model, for the browser tests in web/e2e.

Reads one JSON object per line and answers with one: {"do": "restart"}. Ends with its input.
"""

import json
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "http"))

from gateway import Gateway  # noqa: E402
from upstream import Upstream  # noqa: E402


class Harness:
    def __init__(self, settings):
        models = {"qwen2.5:7b": 32_768, "llama3.2:3b": 8_192, "gpt-4o": 128_000, "small": 1_024}
        self.upstream = Upstream(models)
        self.upstream.__enter__()
        # A name for people to read instead of an address.
        # Settings of the harness itself: the embedded model instead of the false server, and a file of models.
        self.folder = tempfile.TemporaryDirectory(prefix="plimsoll-console-")
        behind = "embedded" if settings.pop("embedded", False) else f"gpu={self.upstream.url}"
        if models_file := settings.pop("models", ""):
            path = Path(self.folder.name) / "models.toml"
            path.write_text(models_file)
            settings["models_file"] = str(path)
        self.gateway = Gateway(behind, **settings)
        # After a restart it must be found at the same address.
        place = self.gateway.command.index("--listen") + 1
        self.gateway.command[place] = f"127.0.0.1:{self.gateway.port}"

    def do_upstream(self, **what):
        """What the model server says: its text, and how many tokens it reports to have read."""
        for name, value in what.items():
            setattr(self.upstream, name, value)
        return {}

    def do_release(self):
        self.upstream.release.set()
        return {}

    def do_hold(self):
        self.upstream.release.clear()
        return {}

    def do_stop(self):
        self.gateway.stop(signal.SIGTERM)
        return {}

    def do_start(self):
        self.gateway.start()
        return {}

    def do_run(self, arguments):
        return {"output": self.gateway.run(*arguments)}

    def do_write(self, name, text):
        (self.gateway.folder / name).write_text(text)
        return {}

    def close(self):
        self.gateway.close()
        self.upstream.__exit__()
        self.folder.cleanup()


def main():
    harness = Harness(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {})
    try:
        print(json.dumps({"url": harness.gateway.url, "greeting": harness.gateway.greeting}), flush=True)
        for line in sys.stdin:
            wish = json.loads(line)
            print(json.dumps(getattr(harness, "do_" + wish.pop("do"))(**wish)), flush=True)
    finally:
        harness.close()


if __name__ == "__main__":
    main()
