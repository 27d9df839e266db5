"""llama-cpp-python over the same weights: reads a job a line from standard input, answers a figure a line.

  python3 bench/embedded/peer.py MODEL.gguf THREADS WINDOW

A job is {"tokens": [...], "answer": N}: the prompt is read from nothing, then N tokens are made, always the likeliest.
"""

import json
import sys
import time

from llama_cpp import Llama


def main():
    model, threads, window = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    llm = Llama(model_path=model, n_ctx=window, n_threads=threads, n_threads_batch=threads, n_batch=512, n_ubatch=512,
                verbose=False)
    print("ready", flush=True)
    for line in sys.stdin:
        job = json.loads(line)
        llm.reset()
        begun = time.perf_counter()
        llm.eval(job["tokens"])
        read = time.perf_counter()
        for _ in range(job["answer"]):
            llm.eval([llm.sample(temp=0.0, repeat_penalty=1.0)])
        print(json.dumps({"prompt_ms": (read - begun) * 1e3, "answer_ms": (time.perf_counter() - read) * 1e3}), flush=True)


main()
