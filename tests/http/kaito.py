"""What the suites of RAGEngine's behaviours share: three documents, an index of them, and short ways to ask."""

import hashlib
import json
import urllib.parse

from gateway import WithGateway, user

CATS = "Cats are small furry animals."
TOWER = "The Eiffel Tower is in Paris."
PLANTS = "Photosynthesis turns light into sugar."
THREE = [{"text": CATS, "metadata": {"k": "a", "n": 1}}, {"text": TOWER, "metadata": {"k": "b", "n": 2}},
         {"text": PLANTS}]


def id_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def seg(name):
    return urllib.parse.quote(name, safe="")


class Engine(WithGateway):
    """A gateway with a folder for snapshots; each test works on an index of its own."""

    MODELS = {"gpt-4o": 8192, "slow/gpt-4o": 8192, "429/gpt-4o": 8192, "status-401/gpt-4o": 8192}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.snapshots = cls.gateway.folder / "plimsoll" / "storage"

    def setUp(self):
        super().setUp()
        self.name = self._testMethodName

    def detail(self, reply, status, detail=None):
        self.assertEqual(reply.status, status, reply.body[:2000])
        if detail is not None:
            self.assertEqual(reply.json, {"detail": detail})
        return reply.json["detail"]

    def complaint(self, reply, kind, *location):
        """The first complaint of a 422."""
        self.assertEqual(reply.status, 422, reply.body[:2000])
        first = reply.json["detail"][0]
        self.assertEqual((first["type"], first["loc"][:len(location)]), (kind, list(location)))
        self.assertTrue(first["msg"])
        return first

    def good(self, reply):
        self.assertEqual(reply.status, 200, reply.body[:2000])
        return reply.json

    def add(self, documents=None, name=None):
        return self.gateway.ask("/index", {"index_name": name or self.name,
                                           "documents": THREE if documents is None else documents})

    def made(self, documents=None, name=None):
        return self.good(self.add(documents, name))

    def listed(self, name=None, **query):
        encoded = urllib.parse.urlencode({key: value if isinstance(value, (str, int)) else json.dumps(value)
                                          for key, value in query.items()})
        return self.gateway.ask(f"/indexes/{seg(name or self.name)}/documents?{encoded}")

    def texts(self, name=None, **query):
        return [one["text"] for one in self.good(self.listed(name, **({"limit": 100} | query)))["documents"]]

    def update(self, documents, name=None):
        return self.gateway.ask(f"/indexes/{seg(name or self.name)}/documents", {"documents": documents})

    def delete(self, *ids, name=None):
        return self.gateway.ask(f"/indexes/{seg(name or self.name)}/documents/delete", {"doc_ids": list(ids)})

    def drop(self, name=None):
        return self.gateway.ask(f"/indexes/{seg(name or self.name)}", method="DELETE")

    def post(self, route, **query):
        return self.gateway.ask(route + ("?" + urllib.parse.urlencode(query) if query else ""), b"", method="POST")

    def retrieve(self, query, name=None, **fields):
        return self.gateway.ask("/retrieve", {"index_name": name or self.name, "query": query} | fields)

    def chat(self, query=TOWER, name=None, messages=None, model=None, **fields):
        return self.gateway.chat(model or self.model, user(query) if messages is None else messages,
                                 **({"index_name": name or self.name} | fields))

    def sources(self, reply):
        return [node["text"] for node in self.good(reply)["source_nodes"] or []]

    def counted(self, metric, status):
        for line in self.gateway.ask("/metrics").body.decode().splitlines():
            if line.startswith(f'{metric}{{status="{status}"}} '):
                number = line.rsplit(" ", 1)[1]
                self.assertRegex(number, r"^\d+\.0$")
                return float(number)
        raise AssertionError(f"no {metric} with status {status}")
