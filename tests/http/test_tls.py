"""HTTPS by setting: what is answered over it, who does not speak it, and files that will not do.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path

from gateway import CHAT, PATIENCE, SLOW, Gateway, user
from upstream import Upstream


@unittest.skipUnless(shutil.which("openssl"), "no openssl to make certificates with")
class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.files = Path(folder.name)
        for name in ("our", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                            "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                            "-keyout", cls.files / f"{name}.key", "-out", cls.files / f"{name}.pem"],
                           check=True, capture_output=True)
        cls.upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        cls.gateway = Gateway(cls.upstream, tls_certificate_file=cls.files / "our.pem",
                              tls_key_file=cls.files / "our.key", idle_timeout_seconds=SLOW)
        cls.addClassCleanup(cls.gateway.close)
        cls.trust = ssl.create_default_context(cafile=cls.files / "our.pem")

    def line(self):
        line = http.client.HTTPSConnection("127.0.0.1", self.gateway.port, timeout=PATIENCE, context=self.trust)
        self.addCleanup(line.close)
        return line

    def test_the_greeting_names_it(self):
        self.assertEqual(self.gateway.url, f"https://127.0.0.1:{self.gateway.port}")

    def test_requests_are_answered_one_after_the_other(self):
        line = self.line()
        for stream in (False, True, False):
            body = {"model": "gpt-4o", "messages": user("Ahoy " * 2000), "stream": stream}
            line.request("POST", CHAT, json.dumps(body), {"Content-Type": "application/json"})
            reply = line.getresponse()
            text = reply.read()
            self.assertEqual(reply.status, 200, text)
            self.assertEqual(b"[DONE]" in text, stream)

    def test_old_versions_are_refused(self):
        old = ssl.create_default_context(cafile=self.files / "our.pem")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("DEFAULT@SECLEVEL=0")
        with socket.create_connection(("127.0.0.1", self.gateway.port), timeout=PATIENCE) as plain:
            with self.assertRaises(ssl.SSLError):
                old.wrap_socket(plain, server_hostname="127.0.0.1")

    def test_ciphers_without_forward_secrecy_or_seal_are_refused(self):
        def connect(ciphers):
            context = ssl.create_default_context(cafile=self.files / "our.pem")
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_ciphers(ciphers)
            with socket.create_connection(("127.0.0.1", self.gateway.port), timeout=PATIENCE) as plain:
                with context.wrap_socket(plain, server_hostname="127.0.0.1") as line:
                    return line.cipher()[0]

        for weak in ("ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "AES128-SHA", "AES128-GCM-SHA256"):
            with self.subTest(weak), self.assertRaises(ssl.SSLError):
                connect(weak)
        for strong in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"):
            self.assertEqual(connect(strong), strong)

    def test_the_end_is_announced(self):
        for request in (b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b"nonsense\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.gateway.port), timeout=PATIENCE) as plain:
                with self.trust.wrap_socket(plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False) as line:
                    line.sendall(request)
                    got = b""
                    while piece := line.recv(1 << 16):  # without close_notify: an error
                        got += piece
                    self.assertTrue(got.startswith(b"HTTP/1.1 "), got)

    def test_who_speaks_plainly_or_not_at_all_is_let_go(self):
        for said in (b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01", b""):
            with self.subTest(said=said):
                with socket.create_connection(("127.0.0.1", self.gateway.port), timeout=PATIENCE) as plain:
                    plain.sendall(said)
                    try:
                        while plain.recv(1 << 16):
                            pass
                    except ConnectionResetError:
                        pass
        line = self.line()
        line.request("GET", "/health")
        self.assertEqual(line.getresponse().status, 200)

    def test_files_that_will_not_do_are_named(self):
        for certificate, key, words in [("none.pem", "our.key", "none.pem"), ("our.pem", "other.key", "other.key"),
                                        ("our.pem", "none.key", "none.key")]:
            with self.subTest(words=words), self.assertRaisesRegex(AssertionError, words):
                Gateway(self.upstream, tls_certificate_file=self.files / certificate, tls_key_file=self.files / key)
        with self.assertRaisesRegex(AssertionError, "set both"):
            Gateway(self.upstream, tls_certificate_file=self.files / "our.pem")


if __name__ == "__main__":
    unittest.main()
