"""What requests cost, where a price is known: in traces, in totals, and in what the console reads.

`plimsoll` must be on the PATH, or PLIMSOLL_BIN name it. Nothing here leaves this machine.
"""

import json
import tempfile
import time
import unittest
from pathlib import Path

from gateway import CHAT, PATIENCE, Gateway, user
from messages_server import KEY, MessagesServer
from test_console import Events
from upstream import Upstream

PRICED = """
[[model]]
name = "{name}"
window = 8192
tokenizer = "o200k_base"
template = "openai"
specials = "plain"
source = "a price list of our own"
price_input = 2.5
price_output = 10
price_cached_input = 1.25
price_cache_write = 3.125
{more}
"""


class Costs(unittest.TestCase):
    def setUp(self):
        self.upstream = self.enterContext(Upstream({"gpt-4o": 8192, "priced": 8192, "tiered": 8192}))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.models = Path(folder) / "models.toml"
        self.models.write_text(PRICED.format(name="priced", more="") + PRICED.format(name="tiered", more="price_longest_prompt = 100"))

    def start(self, *upstreams, **settings):
        gateway = Gateway(*(upstreams or (self.upstream,)), models_file=str(self.models), **settings)
        self.addCleanup(gateway.close)
        return gateway

    def says(self, **usage):
        """What the server reports from now on."""
        self.upstream.prompt_tokens = usage.get("prompt_tokens")
        self.upstream.usage = lambda answer=3: usage

    def cost(self, gateway, model="priced", stream=False, **fields):
        body = {"model": model, "messages": user("Ahoy!"), "max_tokens": 50} | fields
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        reply = gateway.ask(CHAT, body)
        self.assertEqual(reply.status, 200, reply.body)
        return gateway.inspect(reply.headers["x-plimsoll-trace"])["cost"]

    def test_every_kind_of_token_has_its_price(self):
        gateway = self.start()
        for stream in (False, True):
            with self.subTest(stream=stream):
                self.says(prompt_tokens=8, completion_tokens=3, total_tokens=11)
                self.assertEqual(self.cost(gateway, stream=stream), {"nano_usd": 8 * 2_500 + 3 * 10_000})
                self.says(prompt_tokens=100, completion_tokens=30, total_tokens=130, completion_tokens_details={"reasoning_tokens": 20},
                          prompt_tokens_details={"cached_tokens": 60, "cache_write_tokens": 30})
                self.assertEqual(self.cost(gateway, stream=stream), {"nano_usd": 10 * 2_500 + 60 * 1_250 + 30 * 3_125 + 30 * 10_000})
                # Thinking beside the answer, which only the total tells.
                self.says(prompt_tokens=8, completion_tokens=3, total_tokens=31, completion_tokens_details={"reasoning_tokens": 20})
                self.assertEqual(self.cost(gateway, stream=stream), {"nano_usd": 8 * 2_500 + 23 * 10_000})

    def test_what_is_not_known_says_why(self):
        gateway = self.start()
        usual = {"prompt_tokens": 8, "completion_tokens": 3, "total_tokens": 11}
        cases = [("no price", "gpt-4o", usual),  # OpenAI's price is not that of a server of one's own
                 ("did not report", "priced", {}),
                 ("did not report", "priced", {"prompt_tokens": 8}),
                 ("contradicts", "priced", usual | {"prompt_tokens_details": {"cached_tokens": 9}}),
                 ("other prices", "priced", usual | {"prompt_tokens_details": {"audio_tokens": 1}}),
                 ("service tier", "priced", usual | {"service_tier": "priority"}),
                 ("more than 100", "tiered", {"prompt_tokens": 101, "completion_tokens": 3})]
        for why, model, usage in cases:
            for stream in (False, True):
                with self.subTest(why, usage=usage, stream=stream):
                    self.says(**usage)
                    cost = self.cost(gateway, model, stream)
                    self.assertIsNone(cost["nano_usd"])
                    self.assertIn(why, cost["why"])
        self.says(**usual | {"service_tier": "default"})
        self.assertIsNotNone(self.cost(gateway)["nano_usd"])
        self.says(prompt_tokens=100, completion_tokens=3)
        self.assertIsNotNone(self.cost(gateway, "tiered")["nano_usd"])

    def test_a_request_that_nobody_answered_has_none(self):
        gateway = self.start()
        reply = gateway.ask(CHAT, {"model": "priced", "messages": user("ship " * 9000)})
        self.assertEqual(reply.status, 400)
        self.assertIsNone(gateway.inspect(reply.headers["x-plimsoll-trace"])["cost"])

    def test_totals_say_of_how_many_requests_they_are(self):
        gateway = self.start()
        watching = Events(gateway)
        self.addCleanup(watching.close)
        self.says(prompt_tokens=8, completion_tokens=3, total_tokens=11)
        one = 8 * 2_500 + 3 * 10_000
        for model in ("priced", "priced", "gpt-4o"):
            self.cost(gateway, model)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            by_model = {row["group"]: row for row in gateway.ask("/v1/usage?by=model").json["data"] if row["section"] == ""}
            if sum(row["requests"] for row in by_model.values()) == 3:
                break
            time.sleep(0.05)
        self.assertEqual({name: (row["nano_usd"], row["priced_requests"]) for name, row in by_model.items()},
                         {"priced": (2 * one, 2), "gpt-4o": (None, 0)})
        day = json.loads(gateway.run("usage", "--by", "day", "--json"))["usage"][0]
        self.assertEqual(day["cost"], {"nano_usd": 2 * one, "requests": 2})
        self.assertRegex(gateway.run("usage", "--by", "day"), r"COST\n.* \$0\.000100 of 2\n")
        table = gateway.run("usage", "--by", "model")
        self.assertRegex(table, r"priced .* \$0\.000100\n")
        self.assertRegex(table, r"gpt-4o .* -\n")
        self.assertIsNone(json.loads(gateway.run("usage", "--by", "section", "--json"))["usage"][0]["cost"])
        watching.until(b'"model":"gpt-4o"')
        self.assertEqual([event["cost"]["nano_usd"] for event in watching.of("trace")], [one, one, None])
        listed = gateway.ask("/v1/traces").json["data"]
        self.assertEqual([trace["cost"]["nano_usd"] for trace in listed], [None, one, one])
        self.assertIn("cost $0.000050 by the list price", gateway.run("inspect", listed[1]["id"]))
        self.assertIn("cost not known: no price is known", gateway.run("inspect", listed[0]["id"]))

    def test_models_show_prices_where_they_apply(self):
        gateway = self.start()
        listed = json.loads(gateway.run("--set", f"models_file={self.models}", "models", "--json", "--upstream", self.upstream.url))["models"]
        prices = {model["name"]: model["prices"] for model in listed}
        self.assertEqual(prices["priced"], {"input": 2.5, "output": 10.0, "cached_input": 1.25, "cache_write": 3.125,
                                            "cache_write_hour": None, "longest_prompt": None})
        self.assertIsNone(prices["gpt-4o"])
        table = gateway.run("--set", f"models_file={self.models}", "models", "--upstream", self.upstream.url)
        self.assertRegex(table, r"priced .* 2\.50 +10\.00\n")
        self.assertRegex(table, r"gpt-4o .* - +-\n")


class AnthropicsCosts(unittest.TestCase):
    """The usage of Anthropic's API, as it is and translated."""

    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        models = Path(folder) / "models.toml"
        models.write_text(PRICED.format(name="claude-sonnet-4-5", more="price_cache_write_hour = 5").replace("o200k_base", "claude-legacy"))
        self.server = self.enterContext(MessagesServer({"claude-sonnet-4-5": 8192}))
        self.gateway = Gateway(f"claude={self.server.url}", environment={"CLAUDE_API_KEY": KEY}, models_file=str(models))
        self.addCleanup(self.gateway.close)

    def test_tokens_in_its_cache_have_their_own_prices(self):
        hour = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}
        for told, cost in (({}, 9 * 2_500 + 2 * 3_125 + 10 * 1_250 + 3 * 10_000),
                           ({"cache_creation": hour, "service_tier": "standard"}, 9 * 2_500 + 3_125 + 5_000 + 10 * 1_250 + 3 * 10_000),
                           ({"service_tier": "priority"}, None)):
            self.server.usage_told = {"input_tokens": 9, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 10} | told
            for path in (CHAT, "/v1/messages"):
                for stream in (False, True):
                    with self.subTest(told=told, path=path, stream=stream):
                        reply = self.gateway.ask(path, {"model": "claude-sonnet-4-5", "messages": user("Ahoy!"), "max_tokens": 50, "stream": stream})
                        self.assertEqual(reply.status, 200, reply.body)
                        trace = self.gateway.inspect(reply.headers["x-plimsoll-trace"])
                        self.assertEqual(trace["cost"]["nano_usd"], cost, trace["cost"])


if __name__ == "__main__":
    unittest.main()
