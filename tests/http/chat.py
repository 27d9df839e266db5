"""What the suites of chat-with-documents share: an index, forms, and short ways to ask."""

import time
import uuid

from gateway import PATIENCE, WithGateway

CATS = "Cats are small furry animals."
TOWER = "The Eiffel Tower is in Paris."
PLANTS = "Photosynthesis turns light into sugar."


def form(*parts, boundary=None):
    """Content type and body; a part is (name, value), or (name, file's name, bytes)."""
    boundary = boundary or uuid.uuid4().hex
    body = b""
    for name, *rest in parts:
        disposition = f'Content-Disposition: form-data; name="{name}"'
        if len(rest) == 2:
            disposition += f'; filename="{rest[0]}"'
        value = rest[-1].encode() if isinstance(rest[-1], str) else rest[-1]
        body += f"--{boundary}\r\n{disposition}\r\n\r\n".encode() + value + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


class ChatWithDocuments(WithGateway):
    """A gateway with the index IDX; each test may make others."""

    MODELS = {"gpt-4o": 8192, "slow/gpt-4o": 8192, "tiny/gpt-4o": 700, "small/gpt-4o": 2000, "status-401/gpt-4o": 8192}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cls.gateway.ask("/index", {"index_name": "IDX", "documents": [
            {"text": text, "metadata": {"k": number}} for number, text in enumerate([CATS, TOWER, PLANTS])]})
        assert made.status == 200, made.body

    def good(self, reply, status=200):
        self.assertEqual(reply.status, status, reply.body[:2000])
        return reply.json

    def say(self, message=TOWER, **fields):
        return self.gateway.ask("/chat/message", {"message": message, "collection_id": "IDX", "model_name": self.model} | fields)

    def said(self, session):
        reply = self.gateway.ask(f"/chat/sessions/{session}")
        return [(turn["role"], turn["content"]) for turn in reply.json["turns"]] if reply.status == 200 else []

    def complaint(self, reply, kind, *location):
        """The first complaint of a 422."""
        self.assertEqual(reply.status, 422, reply.body[:2000])
        first = reply.json["detail"][0]
        self.assertEqual((first["type"], first["loc"]), (kind, list(location)))

    def upload(self, *parts, query="", gateway=None):
        content_type, body = form(*parts)
        return (gateway or self.gateway).ask("/documents" + query, body, headers={"Content-Type": content_type})

    def uploaded(self, *parts, gateway=None):
        """The job, when it is over."""
        return self.good(self.upload(*parts, query="?wait=true", gateway=gateway))

    def until(self, path, over, gateway=None):
        end = time.monotonic() + PATIENCE
        while True:
            body = self.good((gateway or self.gateway).ask(path))
            if over(body):
                return body
            if time.monotonic() > end:
                raise AssertionError(f"{path}: {body}")
            time.sleep(0.02)
