"""W3C's traceparent through the gateway, and spans for an OpenTelemetry collector.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import json
import time
import unittest

from collector import Collector, attributes
from gateway import CHAT, PATIENCE, Gateway, serving, user
from upstream import Upstream

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def parent(flags="01", trace=TRACE):
    return {"traceparent": f"00-{trace}-{PARENT}-{flags}"}


class WithoutCollector(unittest.TestCase):
    """The gateway passes on what the client says."""

    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream({"gpt-4o": 8192}))
        cls.gateway = cls.enterClassContext(serving(cls.upstream))

    def sent_for(self, headers, path=CHAT, **fields):
        body = {"model": "gpt-4o", "max_tokens": 9, "messages": user("How deep?")} | fields
        reply = self.gateway.ask(path, body, headers=headers)
        self.assertEqual(reply.status, 200, reply.body)
        return self.upstream.last().headers, reply

    def test_the_client_s_context_reaches_the_server_as_it_is(self):
        headers, reply = self.sent_for(parent() | {"tracestate": "rojo=1,congo=t61"})
        self.assertEqual(headers["traceparent"], parent()["traceparent"])
        self.assertEqual(headers["tracestate"], "rojo=1,congo=t61")
        self.assertEqual(self.gateway.inspect(reply.headers["x-plimsoll-trace"])["trace_id"], TRACE)

    def test_so_it_does_in_the_other_protocols(self):
        for path in ("/v1/messages", "/api/chat"):
            with self.subTest(path):
                headers, _ = self.sent_for(parent("00"), path, stream=False)
                self.assertEqual(headers["traceparent"], parent("00")["traceparent"])

    def test_what_is_not_well_formed_is_not_passed_on(self):
        for wrong in ({"traceparent": "00-x-y-01"}, parent(trace="0" * 32), {"tracestate": "a=1"},
                      {"traceparent": parent()["traceparent"].upper()}):
            with self.subTest(wrong):
                headers, _ = self.sent_for(wrong)
                self.assertNotIn("traceparent", headers)
                self.assertNotIn("tracestate", headers)
        headers, _ = self.sent_for(parent() | {"tracestate": "no member"})
        self.assertIn("traceparent", headers)
        self.assertNotIn("tracestate", headers)

    def test_without_a_context_the_server_gets_none(self):
        headers, reply = self.sent_for({})
        self.assertNotIn("traceparent", headers)
        self.assertNotIn("trace_id", self.gateway.inspect(reply.headers["x-plimsoll-trace"]))

    def test_metrics_have_no_spans(self):
        self.assertNotIn(b"plimsoll_otlp", self.gateway.ask("/metrics").body)


class WithCollector(unittest.TestCase):
    def setUp(self):
        self.collector = self.enterContext(Collector())
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192}))

    def start(self, **settings):
        gateway = Gateway(self.upstream, otlp_endpoint=self.collector.url, **settings)
        self.addCleanup(gateway.close)
        return gateway

    def ask(self, gateway, model="gpt-4o", headers=None, **fields):
        return gateway.ask(CHAT, {"model": model, "max_tokens": 9, "messages": user("How deep is the ship?")} | fields,
                           headers=headers)

    def counted(self, gateway, name):
        for line in gateway.ask("/metrics").body.decode().splitlines():
            if line.startswith(f"plimsoll_otlp_requests_{name}_total "):
                return int(line.split()[1])
        raise AssertionError(name)

    def test_a_request_has_a_span_and_one_for_each_attempt(self):
        gateway = self.start(otlp_headers="x-team=ships")
        self.upstream.prompt_tokens = 12
        for stream in (False, True):
            trace = TRACE if stream else TRACE[::-1]
            reply = self.ask(gateway, headers=parent(trace=trace), stream=stream, stream_options={"include_usage": True})
            self.assertEqual(reply.status, 200)
            request, attempt = self.collector.of_trace(trace, 2, PATIENCE)
            self.assertEqual((request["kind"], request["parentSpanId"], request["name"]), (2, PARENT, f"POST {CHAT}"))
            self.assertEqual((attempt["kind"], attempt["parentSpanId"], attempt["name"]), (3, request["spanId"], "chat gpt-4o"))
            self.assertEqual(self.upstream.last().headers["traceparent"], f"00-{trace}-{attempt['spanId']}-01")
            about = attributes(request)
            self.assertEqual(about["plimsoll.trace"], reply.headers["x-plimsoll-trace"])
            self.assertEqual(about["plimsoll.window"], "8192")
            self.assertLessEqual(int(about["plimsoll.input"]) + int(about["plimsoll.answer"]) + int(about["plimsoll.margin"]), 8192)
            about = attributes(attempt)
            self.assertEqual(about["gen_ai.operation.name"], "chat")
            self.assertEqual(about["gen_ai.provider.name"], "vllm")
            self.assertEqual(about["gen_ai.request.model"], "gpt-4o")
            self.assertEqual(about["gen_ai.usage.input_tokens"], "12")
            self.assertLessEqual(int(request["startTimeUnixNano"]), int(attempt["startTimeUnixNano"]))
            self.assertLessEqual(int(attempt["endTimeUnixNano"]), int(request["endTimeUnixNano"]))
            self.assertIn("plimsoll.plan", [event["name"] for event in request["events"]])
        path, headers, _, _ = self.collector.requests[0]
        self.assertEqual((path, headers["x-team"], headers["Content-Type"]), ("/v1/traces", "ships", "application/json"))

    def test_a_client_without_a_context_begins_a_trace(self):
        gateway = self.start()
        reply = self.ask(gateway)
        trace = gateway.inspect(reply.headers["x-plimsoll-trace"])["trace_id"]
        request, _ = self.collector.of_trace(trace, 2, PATIENCE)
        self.assertNotIn("parentSpanId", request)

    def test_the_client_decides_whether_it_is_traced(self):
        gateway = self.start()
        self.ask(gateway, headers=parent("00"))
        sent = self.upstream.last().headers["traceparent"]
        self.assertTrue(sent.startswith(f"00-{TRACE}-") and sent.endswith("-00"), sent)
        other = TRACE[::-1]
        self.ask(gateway, headers=parent("01", other))
        self.collector.of_trace(other, 2, PATIENCE)
        self.assertEqual([span for span in self.collector.spans() if span["traceId"] == TRACE], [])

    def test_a_share_of_none_sends_nothing_but_what_clients_trace(self):
        gateway = self.start(otlp_share=0)
        for _ in range(5):
            self.ask(gateway)
        self.ask(gateway, headers=parent())
        self.collector.of_trace(TRACE, 2, PATIENCE)
        self.assertEqual(len(self.collector.spans()), 2)

    def test_words_are_sent_only_with_prompts(self):
        for keeps in (False, True):
            gateway = self.start(keep_prompts=keeps)
            trace = f"{7 + keeps:032x}"
            self.ask(gateway, headers=parent(trace=trace))
            told = json.dumps(self.collector.of_trace(trace, 2, PATIENCE))
            self.assertEqual("How deep is the ship?" in told, keeps)

    def test_failures_are_marked(self):
        gateway = self.start()
        reply = self.ask(gateway, model="status-503-once/gpt-4o", headers=parent())
        self.assertEqual(reply.status, 200, reply.body)
        span, first, second = self.collector.of_trace(TRACE, 3, PATIENCE)
        self.assertEqual((first["status"]["code"], attributes(first)["error.type"]), (2, "503"))
        for one in (span, second):
            self.assertNotIn("status", one)
        trace = TRACE[::-1]
        reply = self.ask(gateway, max_tokens=9, messages=user("ship " * 20_000), headers=parent(trace=trace))
        self.assertEqual(reply.status, 400, reply.body)
        span, = self.collector.of_trace(trace, 1, PATIENCE)
        self.assertEqual(attributes(span)["error.type"], "400")

    def test_a_collector_that_is_busy_gets_them_later(self):
        self.collector.statuses = [503, 429]
        gateway = self.start()
        self.ask(gateway, headers=parent())
        self.collector.of_trace(TRACE, 2, PATIENCE)
        self.assertEqual(self.counted(gateway, "sent"), 1)
        self.assertEqual(self.counted(gateway, "dropped"), 0)

    def test_a_collector_that_refuses_them_is_reported(self):
        self.collector.statuses = [401] * 9
        gateway = self.start(otlp_headers="authorization=Bearer s3cret")
        self.ask(gateway)
        until = time.monotonic() + PATIENCE
        while self.counted(gateway, "dropped") == 0 and time.monotonic() < until:
            time.sleep(0.05)
        self.assertEqual(self.counted(gateway, "dropped"), 1)
        self.assertIn("spans of requests were lost", gateway.logged())
        self.assertIn("status 401", gateway.logged())
        self.assertNotIn("s3cret", gateway.logged())

    def test_a_collector_that_hangs_delays_nobody(self):
        gateway = self.start()
        self.collector.answering.clear()
        for _ in range(20):
            began = time.monotonic()
            self.assertEqual(self.ask(gateway).status, 200)
            self.assertLess(time.monotonic() - began, PATIENCE / 4)
        self.collector.answering.set()

    def test_the_rest_is_sent_at_the_end(self):
        gateway = Gateway(self.upstream, otlp_endpoint=self.collector.url)
        self.ask(gateway, headers=parent())
        gateway.close()
        self.assertEqual(len([span for span in self.collector.spans() if span["traceId"] == TRACE]), 2)

    def test_headers_that_are_wrong_are_refused_without_being_shown(self):
        with self.assertRaises(AssertionError) as raised:
            Gateway(self.upstream, otlp_endpoint=self.collector.url, otlp_headers="s3cret")
        self.assertIn("otlp_headers must be name=value", str(raised.exception))
        self.assertNotIn("s3cret", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
