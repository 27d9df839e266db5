"""The tests of the gateway's surfaces once more, with nothing behind it but the embedded model. What looks at the
requests that a server got, or wants answers that were written beforehand, stays with the servers that it was made for.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import unittest

import test_clients
import test_every_route
import test_kaito
import test_mcp_http
import test_memory
import test_openapi
import test_upload


class EveryRoute(test_every_route.EveryRoute):
    EMBEDDED = True


class OpenApi(test_openapi.OpenApi):
    EMBEDDED = True


class McpOverHttp(test_mcp_http.McpOverHttp):
    EMBEDDED = True


class Service(test_kaito.Service):
    EMBEDDED = True


class Indexing(test_kaito.Indexing):
    EMBEDDED = True


class Documents(test_kaito.Documents):
    EMBEDDED = True


class Snapshots(test_kaito.Snapshots):
    EMBEDDED = True


class Retrieve(test_kaito.Retrieve):
    EMBEDDED = True


class Names(test_kaito.Names):
    EMBEDDED = True


class Lifecycle(test_kaito.Lifecycle):
    EMBEDDED = True


class Memories(test_memory.Memories):
    EMBEDDED = True
    test_a_full_window_gets_few_or_none = None  # of another window


class Uploading(test_upload.Uploading):
    EMBEDDED = True



class RealClients(test_clients.Clients):
    EMBEDDED = True
    ONLY = ("plain", "with_documents", "streaming", "others", "langchain", "llamaindex")

    def test_openai(self):
        plain, streaming = self.saw("plain"), self.saw("streaming")
        self.assertTrue(plain["text"] and plain["trace"] and streaming["text"])
        self.assertEqual((plain["window"], plain["read"]), ("2048", streaming["read"]))
        self.assertEqual(self.saw("with_documents")["nodes"], [test_clients.LINE])

    def test_openai_other_routes(self):
        seen = self.saw("others")
        self.assertEqual((seen["model"], seen["dimensions"]), (self.model, 384))
        self.assertTrue(seen["completion"])
        self.assertIn(f"{self.model}+ship", seen["models"])

    def test_langchain_and_llamaindex(self):
        for name in ("langchain", "llamaindex"):
            self.assertTrue(self.saw(name)["text"] and self.saw(name)["stream"])


if __name__ == "__main__":
    unittest.main()
