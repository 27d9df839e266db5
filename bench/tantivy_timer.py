"""Times tantivy on passages and queries: `python tantivy_timer.py PASSAGES QUERIES STOP_WORDS ROUNDS`, a JSON line.

The same words as ours: letters and digits, lower case, the same stop words left out, Snowball's English stems, counts without
positions. One writer thread, one segment, searched by one thread; CPU time of the whole process.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import tantivy


def main():
    passages, queries, stop_words, rounds = sys.argv[1:5]
    lines = Path(passages).read_text().splitlines()
    questions = Path(queries).read_text().splitlines()
    analyzer = (tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(64))
                .filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.custom_stopword(Path(stop_words).read_text().split()))
                .filter(tantivy.Filter.stemmer("english")).build())
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False, tokenizer_name="words", index_option="freq")
    builder.add_unsigned_field("number", stored=True)
    with tempfile.TemporaryDirectory() as folder:
        index = tantivy.Index(builder.build(), path=folder)
        index.register_tokenizer("words", analyzer)
        started = time.process_time()
        writer = index.writer(heap_size=500_000_000, num_threads=1)
        for number, line in enumerate(lines):
            writer.add_document(tantivy.Document(text=line, number=number + 1))
        writer.commit()
        writer.wait_merging_threads()
        build_s = time.process_time() - started
        index.reload()
        searcher = index.searcher()
        parsed = [index.parse_query(question, ["text"]) for question in questions]
        best, found = None, []
        for _ in range(int(rounds)):
            started = time.process_time()
            results = [searcher.search(query, limit=10, count=False).hits for query in parsed]
            took = (time.process_time() - started) / len(parsed)
            best = took if best is None else min(best, took)
        for hits in results:
            found.append([[searcher.doc(address)["number"][0], score] for score, address in hits])
        size = sum(path.stat().st_size for path in Path(folder).rglob("*"))
        print(json.dumps({"build_s": build_s, "query_ms": best * 1e3, "segments": searcher.num_segments, "bytes": size,
                          "found": found}))


if __name__ == "__main__":
    main()
