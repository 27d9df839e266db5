"""Plants wrong includes in a small tree and expects the layer check to name them."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402


class Layers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.write("include/plimsoll/plan.hpp", "#pragma once\n#include <vector>\n")
        self.write("src/base/text.hpp", "#pragma once\n")
        self.write("src/budget/share.cpp", '#include "plimsoll/plan.hpp"\n#include "base/text.hpp"\n')
        self.write("src/budget/CMakeLists.txt", "plimsoll_room(budget SOURCES share.cpp DEPENDS plimsoll::base)\n")

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def problems(self):
        return check_layers.check(self.root)[0]

    def assert_only(self, *expected):
        self.assertEqual(self.problems(), list(expected))

    def assert_said(self, part):
        problems = self.problems()
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_a_right_tree_has_no_problem(self):
        self.assert_only()

    def test_rooms_of_equal_rank_are_strangers(self):
        self.write("src/retrieve/fuse.hpp", "#pragma once\n")
        self.write("src/budget/x.cpp", '#include "plimsoll/plan.hpp"\n\n#include "retrieve/fuse.hpp"\n')
        self.assert_only("src/budget/x.cpp:3: budget (rank 3) may not include retrieve (rank 3): "
                         "rooms of equal rank are strangers")

    def test_includes_do_not_point_up(self):
        self.write("src/base/x.cpp", '#include "count/bpe.hpp"\n')
        self.assert_only("src/base/x.cpp:1: base (rank 1) may not include count (rank 2): includes point down")

    def test_a_relative_include_does_not_hide_the_room(self):
        self.write("src/engine/answer.hpp", "#pragma once\n")
        self.write("src/budget/x.cpp", '#include "../engine/answer.hpp"\n')
        self.assert_said("budget (rank 3) may not include engine (rank 5)")

    def test_angle_brackets_do_not_hide_the_room(self):
        self.write("src/engine/answer.hpp", "#pragma once\n")
        self.write("src/budget/x.cpp", "  #  include <engine/answer.hpp>\n")
        self.assert_said("src/budget/x.cpp:1: budget (rank 3) may not include engine")

    def test_the_public_headers_include_only_themselves(self):
        self.write("include/plimsoll/x.hpp", '#include "base/text.hpp"\n')
        self.assert_said("include (rank 0) may not include base (rank 1)")

    def test_adapters_see_the_ports_and_base_alone(self):
        self.write("src/adapters/ollama/chat.cpp",
                   '#include "plimsoll/plan.hpp"\n#include "base/text.hpp"\n#include "count/bpe.hpp"\n')
        self.assert_said("chat.cpp:3: adapters/ollama (rank 4) may not include count (rank 2): "
                         "adapters see the ports and base alone")

    def test_adapters_do_not_see_each_other(self):
        self.write("src/adapters/openai/chat.hpp", "#pragma once\n")
        self.write("src/adapters/ollama/chat.cpp", '#include "adapters/openai/chat.hpp"\n')
        self.assert_said("adapters/ollama (rank 4) may not include adapters/openai")

    def test_the_engine_knows_no_http_and_no_provider(self):
        self.write("src/engine/send.cpp", "int code = reply.status;\n")
        self.assert_only("src/engine/send.cpp:1: the engine does not know HTTP: `status`")
        self.write("src/engine/send.cpp", '// Reads a Header.\nconst char* key = "num_ctx";\n')
        self.assertEqual(self.problems(), ["src/engine/send.cpp:1: the engine does not know HTTP: `Header`",
                                           "src/engine/send.cpp:2: the engine does not know a provider's format: `num_ctx`"])
        self.write("src/engine/send.cpp", "int code = number_of(info.code);\n")
        self.write("src/engine/send_test.cpp", "int status = 200;\n")
        self.assert_only()

    def test_an_adapter_sees_itself(self):
        self.write("src/adapters/ollama/chat.hpp", "#pragma once\n")
        self.write("src/adapters/ollama/chat.cpp", '#include "adapters/ollama/chat.hpp"\n')
        self.assert_only()

    def test_the_gateway_sees_no_adapter_but_apps_sees_both(self):
        self.write("src/adapters/ollama/chat.hpp", "#pragma once\n")
        self.write("src/gateway/serve.hpp", "#pragma once\n")
        both = '#include "adapters/ollama/chat.hpp"\n#include "gateway/serve.hpp"\n'
        self.write("apps/plimsoll/serve.cpp", both)
        self.assert_only()
        self.write("src/gateway/serve.cpp", both)
        self.assert_said("src/gateway/serve.cpp:1: gateway (rank 7) may not include adapters/ollama (rank 4): "
                         "only apps sees both")

    def test_a_folder_outside_the_table_is_refused(self):
        self.write("src/helpers/misc.cpp", "\n")
        self.assert_said("src/helpers: this folder is in no room")

    def test_a_file_outside_every_room_is_refused(self):
        self.write("src/stray.cpp", "\n")
        self.assert_said("src/stray.cpp: this file is in no room")

    def test_at_most_25_public_headers(self):
        for number in range(24):
            self.write(f"include/plimsoll/h{number}.hpp", "#pragma once\n")
        self.assert_only()
        self.write("include/plimsoll/one_more.hpp", "#pragma once\n")
        self.assert_said("26 headers, at most 25")

    def test_pure_rooms_do_no_io_and_read_no_clock(self):
        for line, why in [("#include <fstream>", "no I/O"), ("#include <iostream>", "no I/O"),
                          ("#include <sys/socket.h>", "no I/O"), ("#include <boost/json.hpp>", "no Boost"),
                          ("auto t = std::chrono::steady_clock::now();", "reads a clock"),
                          ('auto* v = std::getenv("HOME");', "reads a clock or the system")]:
            for room in ("count", "window", "strategy", "budget", "render", "grounding", "ledger"):
                with self.subTest(line=line, room=room):
                    self.write(f"src/{room}/x.cpp", f"\n{line}\n")
                    self.assert_said(f"src/{room}/x.cpp:2: {room}")
                    self.assert_said(why)
                    (self.root / f"src/{room}/x.cpp").unlink()

    def test_tests_and_impure_rooms_may_read_files_and_clocks(self):
        body = "#include <fstream>\nauto t = std::chrono::steady_clock::now();\n"
        self.write("src/count/x_test.cpp", body)
        self.write("src/count/x_bench.cpp", body)
        self.write("src/base/x.cpp", body)
        self.write("src/engine/x.cpp", body)
        self.assert_only()

    def test_comments_and_literals_are_not_code(self):
        self.write("src/count/x.cpp", '// #include "engine/a.hpp"\n/*\n#include <fstream>\n clock::now() */\n'
                   'const char* a = "steady_clock::now()";\nconst char* b = R"(x::now( " // )";\n'
                   "const int big = 1'000'000;  // it's not ::now()\n")
        self.assert_only()

    def test_code_after_a_literal_with_slashes_is_still_seen(self):
        self.write("src/count/x.cpp", 'const char* a = "http://"; auto t = clock::now();\n')
        self.assert_said("src/count/x.cpp:1: count is pure")

    def test_beast_and_asio_stay_at_the_edge(self):
        self.write("src/gateway/x.cpp", "#include <boost/beast/http.hpp>\n#include <boost/asio.hpp>\n")
        self.write("src/adapters/ollama/x.cpp", "#include <boost/beast/http.hpp>\n")
        self.write("src/engine/x.cpp", "#include <boost/asio/awaitable.hpp>\n")
        self.assert_only()
        self.write("src/engine/x.cpp", "#include <boost/asio/io_context.hpp>\n")
        self.assert_said("Asio stays in gateway, adapters and apps")
        self.write("src/engine/x.cpp", "#include <boost/beast/core.hpp>\n")
        self.assert_said("Beast stays in gateway and adapters")

    def test_a_room_that_cmake_does_not_list_is_named(self):
        self.write("src/budget/CMakeLists.txt", "plimsoll_room(budget SOURCES share.cpp) # plimsoll::base\n")
        self.assert_only("src/budget/share.cpp:2: budget includes base, but src/budget/CMakeLists.txt does not list "
                         "plimsoll::base in DEPENDS")

    def test_this_repository_keeps_its_own_table(self):
        problems, files = check_layers.check(ROOT)
        self.assertEqual(problems, [])
        self.assertGreater(files, 10)


if __name__ == "__main__":
    unittest.main()
