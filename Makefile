# The front door. `make` alone says what there is; every target does the set-up that it needs.

.DEFAULT_GOAL := help
.PHONY: help build demo serve web test test-full test-live bench bench-count bench-plan bench-search bench-evidence bench-clutter bench-graph bench-parts bench-languages bench-cutoff bench-grounding bench-turns bench-ingest bench-gateway bench-stores bench-sizes bench-weaviate bench-kaito bench-embedded fuzz lint format vectors package install clean

PREFIX ?= /usr/local
# How long `make fuzz` gives each target.
FUZZ_SECONDS ?= 60

PLIMSOLL := build/plimsoll
# The demo's index lies beside the build and not among the user's own.
DEMO := $(PLIMSOLL) --set store_file=build/demo/store.db
REFS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/plimsoll/venv-refs/bin/python

help:
	@echo 'Plimsoll counts, plans and shows what goes into an LLM'"'"'s context window.'
	@echo
	@echo '  make build        set up this machine and build $(PLIMSOLL) (the first time fetches 0.5 GB)'
	@echo '  make demo         count these documents, plan a request, index the manual and ask it a question'
	@echo '                    MODEL=qwen2.5-coder-1.5b-instruct downloads a better model (1.1 GB) and asks that'
	@echo '  make serve        run the gateway'
	@echo '  make web          build the web console into web/dist, which is committed'
	@echo
	@echo '  make test         unit tests, the same under sanitizers, the commands of the docs, layout and layers'
	@echo '  make test-full    and clang-tidy, 200 kills, ThreadSanitizer, the gateway under sanitizers and 100,000 requests, fuzzing, aarch64'
	@echo '  make test-live    three gateways over a real PostgreSQL; one before a real Ollama, which is built once (about 8 min of processor time)'
	@echo '  make lint         layout, layers and likely mistakes; `make format` mends the layout'
	@echo '  make fuzz         each fuzzer for FUZZ_SECONDS=$(FUZZ_SECONDS) s'
	@echo
	@echo '  make bench        microbenchmarks of every room'
	@echo '  make bench-count  counting, side by side with gigatoken, tiktoken and bpe-openai'
	@echo '  make bench-plan   planning: pieces counted before, a request from its text, a window from the cache'
	@echo '  make bench-search searching, side by side with tantivy, and vectors by the 100,000 and the million'
	@echo '  make bench-evidence  evidence found within budgets of tokens; EVIDENCE_DATA=FOLDER has the questions'
	@echo '  make bench-clutter  the same among tables of contents and text that was read wrongly'
	@echo '  make bench-graph  questions that need two documents; TWOHOP_DATA=FOLDER and EVIDENCE_DATA=FOLDER have them'
	@echo '  make bench-parts  questions of several parts; EVIDENCE_DATA likewise'
	@echo '  make bench-languages  sections of one book in eight languages, by their headings'
	@echo '  make bench-cutoff  evidence kept against tokens sent where a request names no budget; EVIDENCE_DATA likewise'
	@echo '  make bench-grounding  the check of answers, and answers with the evidence; EVIDENCE_DATA likewise'
	@echo '  make bench-turns  turns of long conversations found again, side by side with plain BM25'
	@echo '  make bench-ingest documents into an index, side by side with the same model in Python'
	@echo '  make bench-gateway   the gateway, side by side with nginx and LiteLLM'"'"'s proxy, before one upstream'
	@echo '  make bench-stores    a store on PostgreSQL beside one in a file, and three gateways beside one'
	@echo '  make bench-sizes     what documents take in a file, on PostgreSQL and on Weaviate'
	@echo '  make bench-kaito  the workload of KAITO RAGEngine, beside what was recorded of it'
	@echo '  make bench-embedded  the embedded model, side by side with llama-cpp-python over the same weights'
	@echo '  make bench-weaviate  indexes on Weaviate, side by side with its own client'
	@echo '  make vectors      make the test vectors anew from the reference tokenizers'
	@echo
	@echo '  make package      the release tarball for Debian 12 and 13, in build/package'
	@echo '  make install      install into PREFIX=$(PREFIX), DESTDIR=$(DESTDIR)'
	@echo '  make clean        remove build/; the cache of assets stays'
	@echo
	@echo 'Start with `make build`, then `make demo`. CONTRIBUTING.md says how to go on.'

# Vocabularies and weights are fetched while the compiler works.
build:
	@tools/setup build sources
	@cmake --preset release --log-level=WARNING
	@[ -e $(PLIMSOLL) ] || echo 'Compiling the program: about 6 minutes on two cores the first time. Vocabularies and weights come meanwhile (build/assets.log).'
	@tools/setup assets > build/assets.log 2>&1 & fetching=$$!; \
	cmake --build build --target plimsoll; built=$$?; \
	wait $$fetching || { cat build/assets.log >&2; exit 1; }; exit $$built
	@$(PLIMSOLL) tokenizers --compile

demo: build
	$(PLIMSOLL) count --model gpt-4o README.md docs/*.md
	@echo
	echo 'A Plimsoll line shows how deep a ship may be loaded.' | $(PLIMSOLL) count --model gpt-4o --show -
	@echo
	$(PLIMSOLL) plan examples/conversation.json --window 1300
	@echo
	$(DEMO) index add manual README.md docs
	@echo
	$(DEMO) search manual 'What happens to old turns when a conversation is too long?' --budget 250
	@echo
	$(if $(MODEL),$(PLIMSOLL) model get $(MODEL))
	$(DEMO) ask manual 'What is the Plimsoll line on a ship?' --upstream embedded $(if $(MODEL),--model $(MODEL)) --window 2048 --max-tokens 96 --explain

serve: build
	@exec $(PLIMSOLL) serve

web:
	@tools/setup web
	@python3 tools/web.py build

test: build
	@tools/setup test
	@cmake --build build
	@python3 tools/run_tests.py quick

test-full: build
	@tools/setup full
	@cmake --build build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) python3 tools/run_tests.py full

test-live: build
	@tools/setup live
	@python3 tools/run_tests.py live

lint:
	@tools/setup build assets lint tidy
	@cmake --preset release --log-level=WARNING
	@python3 tools/lint.py

format:
	@tools/setup lint
	@python3 tools/lint.py mend

fuzz: build
	@tools/setup clang refs
	@FUZZ_SECONDS=$(FUZZ_SECONDS) python3 tools/run_tests.py fuzz
	@$(REFS) tools/fuzz_references.py --seconds $(FUZZ_SECONDS)

bench: build
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench
	@for bench in build/bench/*_bench; do echo "$$bench"; "$$bench" || exit 1; done

bench-count: build
	@tools/setup bench
	@python3 bench/bench_count.py

bench-plan: build
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target plan_timer
	@build/bench/plan_timer build/bench/plan.json

bench-search: build
	@tools/setup bench
	@python3 bench/bench_search.py

bench-evidence: build
	@python3 bench/bench_evidence.py

bench-clutter: build
	@python3 bench/bench_clutter.py

bench-graph: build
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target graph_timer
	@python3 bench/bench_graph.py

bench-parts: build
	@python3 bench/bench_parts.py

bench-languages: build
	@tools/setup bench-languages
	@python3 bench/bench_languages.py --no-embedder

bench-cutoff: build
	@python3 bench/bench_cutoff.py

bench-grounding: build
	@python3 bench/bench_grounding.py

bench-turns: build
	@tools/setup bench-turns
	@python3 bench/bench_turns.py

bench-ingest: build
	@tools/setup bench
	@python3 bench/bench_ingest.py

bench-gateway: build
	@tools/setup bench-gateway
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target gateway_upstream gateway_load
	@python3 bench/gateway/bench_gateway.py

bench-stores: build
	@tools/setup live
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target gateway_upstream gateway_load
	@python3 bench/gateway/bench_stores.py

bench-kaito: build
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target gateway_upstream gateway_load
	@python3 bench/gateway/bench_kaito.py

bench-embedded: build
	@tools/setup bench-embedded
	@python3 bench/embedded/bench_embedded.py

bench-sizes: build
	@tools/setup live
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target gateway_upstream
	@python3 bench/gateway/bench_sizes.py

bench-weaviate: build
	@tools/setup live bench-weaviate
	@cmake --preset release -B build/bench --log-level=WARNING -DPLIMSOLL_BENCHES=ON -DPLIMSOLL_TESTS=OFF \
	  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/bench
	@cmake --build build/bench --target weaviate_timer
	@python3 bench/weaviate/bench_weaviate.py

vectors: build
	@tools/setup refs assets
	@$(REFS) tools/make_vectors.py

package: build
	@python3 tools/package.py

install: build
	@cmake --install build --prefix $(PREFIX)

clean:
	@rm -rf build
