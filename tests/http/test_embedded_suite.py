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


def embedded(suite, **left_out):
    """The same tests before the embedded model."""
    return type(suite.__name__, (suite,), {"EMBEDDED": True, "__module__": __name__} | left_out)


EveryRoute = embedded(test_every_route.EveryRoute)
OpenApi = embedded(test_openapi.OpenApi)
McpOverHttp = embedded(test_mcp_http.McpOverHttp)
Service = embedded(test_kaito.Service)
Indexing = embedded(test_kaito.Indexing)
Documents = embedded(test_kaito.Documents)
Snapshots = embedded(test_kaito.Snapshots)
Retrieve = embedded(test_kaito.Retrieve)
Names = embedded(test_kaito.Names)
Lifecycle = embedded(test_kaito.Lifecycle)
Memories = embedded(test_memory.Memories, test_a_full_window_gets_few_or_none=None)  # of another window
Uploading = embedded(test_upload.Uploading)


class RealClients(test_clients.Clients):
    EMBEDDED = True
    ONLY = ("plain", "with_documents", "streaming", "others", "responses", "langchain", "llamaindex", "anthropic_client")

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

    def test_openai_responses(self):
        seen = self.saw("responses")
        self.assertTrue(seen["text"] and seen["pieces"])
        self.assertEqual((seen["after"], seen["last"], seen["kept"]), (True, seen["pieces"], seen["text"]))

    def test_anthropic(self):
        seen = self.saw("anthropic_client")
        self.assertTrue(seen["text"] and seen["counted"] and seen["stop"])
        self.assertEqual((seen["pieces"], seen["models"]), (seen["last"], self.model))

    def test_langchain_and_llamaindex(self):
        for name in ("langchain", "llamaindex"):
            self.assertTrue(self.saw(name)["text"] and self.saw(name)["stream"])


if __name__ == "__main__":
    unittest.main()
