#!/usr/bin/env python3
"""Serves a model file with the server of llama.cpp until terminated. Started by scripts/lm/scenarios.py.

    server.py MODEL.gguf PORT CONTEXT_TOKENS
"""
import signal
import sys

import xllamacpp

NAME = "smollm2"


def main():
    model, port, context = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.n_gpu_layers = 0
    # Threads spin while they wait for each other: on a busy machine, two are much slower than one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.endpoint_slots = True
    # A model this small repeats itself endlessly.
    params.sampling.penalty_repeat = 1.2
    params.sampling.penalty_last_n = 256
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


main()
