#!/usr/bin/env python3
"""Compares a corpus job with two ways to tokenize JSON Lines in Python, on the same file.

For maintainers; needs a release build of the addon (`npm run build`) and a tokenizer.json.

    pip install tokenizers==0.23.3 transformers==5.23.0 datasets==5.2.0
    python tools/compare/corpus/routes.py --corpus FOLDER --tokenizer tokenizer.json [--mib 200]

- tokenlane: `tokenlane corpus … --format megatron`.
- megatron: what Megatron-LM's tools/preprocess_data.py does with `--workers`: a pool of processes
  parses each line and calls a fast tokenizer, and the parent process appends the ids to a file.
- datasets: `datasets.load_dataset` and `map(batched=True, num_proc=…)` with the same tokenizer.

Each runs in processes of its own with one worker per processor, one after the other. Prints
documents per second of wall time and per second of processor time.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROUTES = ['tokenlane', 'megatron', 'datasets']


def fast_tokenizer(file):
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=file)


def prepare(file):
    global encode
    tokenizer = fast_tokenizer(file)

    def encode(line):
        return tokenizer(json.loads(line)['text'], add_special_tokens=False)['input_ids']


def encode_line(line):
    return encode(line)


def megatron(source, tokenizer, output, workers):
    import numpy

    tokens = 0
    # Megatron takes the smallest type for the vocabulary in the same way.
    dtype = numpy.uint16 if len(fast_tokenizer(tokenizer)) < 65_500 else numpy.int32
    with open(source) as lines, open(output / 'corpus.bin', 'wb') as out:
        with multiprocessing.get_context('spawn').Pool(workers, prepare, [tokenizer]) as pool:
            for ids in pool.imap(encode_line, lines, 32):
                numpy.array(ids, dtype=dtype).tofile(out)
                tokens += len(ids)
    return tokens


def with_datasets(source, tokenizer, output, workers):
    import datasets

    fast = fast_tokenizer(tokenizer)
    rows = datasets.load_dataset('json', data_files=str(source), split='train', cache_dir=str(output))

    def run(batch):
        return {'ids': fast(batch['text'], add_special_tokens=False)['input_ids']}

    made = rows.map(run, batched=True, num_proc=workers, remove_columns=rows.column_names)
    import pyarrow.compute

    lengths = pyarrow.compute.list_value_length(made.data.column('ids'))
    return pyarrow.compute.sum(lengths).as_py()


def tokenlane(source, tokenizer, output, workers):
    command = ['node', ROOT / 'cli' / 'main.mjs', 'corpus', source, '-t', tokenizer]
    command += ['-o', output / 'tokens', '--format', 'megatron', '--json']
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads((output / 'tokens' / 'manifest.json').read_text())['totals']['tokens']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--corpus', type=pathlib.Path, required=True)
    parser.add_argument('--tokenizer', required=True)
    parser.add_argument('--mib', default='200')
    parser.add_argument('--route', choices=ROUTES)
    parser.add_argument('--source', type=pathlib.Path)
    arguments = parser.parse_args()
    workers = os.cpu_count()
    if arguments.route:
        run = {'tokenlane': tokenlane, 'megatron': megatron, 'datasets': with_datasets}[arguments.route]
        with tempfile.TemporaryDirectory() as output:
            print(run(arguments.source, arguments.tokenizer, pathlib.Path(output), workers))
        return
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'corpus.jsonl'
        module = (ROOT / 'tools' / 'compare' / 'corpus' / 'documents.mjs').as_uri()
        script = 'const [url, ...rest] = process.argv.slice(1); (await import(url)).writeDocuments(...rest)'
        node = ['node', '--input-type=module', '-e', script]
        subprocess.run([*node, module, arguments.corpus, source, arguments.mib], check=True)
        documents = sum(1 for _ in open(source, 'rb'))
        for route in ROUTES:
            command = [sys.executable, __file__, '--corpus', arguments.corpus, '--tokenizer', arguments.tokenizer]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            command += ['--route', route, '--source', source]
            made = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds = time.monotonic() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            tokens = made.stdout.split()[-1]
            print(
                f'{route}: {documents:,} documents, {tokens} tokens, {seconds:.1f} s,'
                f' {used:.1f} CPU seconds: {documents / seconds:,.0f} documents a second,'
                f' {documents / used:,.0f} a CPU second',
                flush=True,
            )


if __name__ == '__main__':
    main()
