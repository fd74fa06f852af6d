#!/usr/bin/env python3
"""Reads recordings of test suites, and prints requests with the tokens that their APIs reported.

    python3 tools/data/recorded_requests.py NAME=DIRECTORY ... > recordings.jsonl

A directory is a git repository, bare or not; NAME is that of its project (owner/name). Formats:
cassettes of VCR in Python and Ruby, of go-vcr, httpmock and Datadog's test agent, HAR, httprr,
WireMock, and the recordings of Llama Stack. Each line of the output has `project`, `source` (a
path), `licence`, `date`, `provider`, `api`, `model` (the one that answered), `tokens` (of the
input, with those of a cache), `body`, and `status` where the answer says what was counted.
"""

import base64
import gzip
import json
import re
import subprocess
import sys
import zlib

import yaml



class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """Reads what VCR writes: Ruby's bytes, and objects of Python, of which nothing is read."""


Loader.add_constructor('!binary', lambda loader, node: base64.b64decode(node.value))
Loader.add_multi_constructor('tag:yaml.org,2002:python/', lambda loader, suffix, node: None)
Loader.add_multi_constructor('!ruby/', lambda loader, suffix, node: None)
PLACES = re.compile(r'cassette|record|fixture|testdata|snapshot|_vcr|test', re.I)
NAMES = re.compile(r'\.(ya?ml|ya?ml\.gz|json|har|httprr)$')
LICENCES = [('MIT', 'Permission is hereby granted, free of charge'), ('Apache-2.0', 'Apache License'), ('Apache-2.0', 'Apache 2.0'),
            ('BSD', 'Redistribution and use in source')]
HOSTS = [
    ('openai', 'api.openai.com'), ('azure', 'openai.azure.com'), ('azure', 'cognitiveservices.azure.com'), ('azure', 'services.ai.azure.com'),
    ('anthropic', 'api.anthropic.com'), ('gemini', 'generativelanguage.googleapis.com'), ('vertex', 'aiplatform.googleapis.com'),
    ('bedrock', 'bedrock-runtime'), ('mistral', 'api.mistral.ai'), ('cohere', 'api.cohere.'), ('xai', 'api.x.ai'),
    ('deepseek', 'api.deepseek.com'), ('groq', 'api.groq.com'), ('openrouter', 'openrouter.ai'),
]
PATHS = [('openai-chat', r'/chat/completions'), ('openai-responses', r'/responses$'), ('anthropic-count', r'/messages/count_tokens'),
         ('anthropic', r'/messages$'), ('gemini-count', r':countTokens'), ('gemini', r':(stream)?[gG]enerateContent'),
         ('bedrock', r'/converse(-stream)?$'), ('bedrock-invoke', r'/invoke(-with-response-stream)?$'), ('cohere', r'/v[12]/chat$'),
         ('openai-embeddings', r'/embeddings$'), ('openai-completions', r'/completions$')]


def git(directory, *args):
    return subprocess.run(['git', '-C', directory, *args], capture_output=True, check=True).stdout


def blobs(directory, names):
    """The contents of files of the newest commit; those that the copy lacks are left out."""
    process = subprocess.Popen(['git', '-C', directory, 'cat-file', '--batch'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    for name in names:
        process.stdin.write(f'HEAD:{name}\n'.encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if not head or head[-1] == b'missing':
            continue
        data = process.stdout.read(int(head[2]))
        process.stdout.read(1)
        yield name, data
    process.stdin.close()


def text_of(value):
    """A body as recorded: text, bytes, base64, compressed, or parsed."""
    if isinstance(value, dict):
        for name in ('string', 'raw_gzip', 'base64_string', 'text', 'base64'):
            if name in value and value[name] is not None:
                if name.startswith('base64'):
                    return text_of(base64.b64decode(value[name]))
                return text_of(value[name])
        return json.dumps(value)
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, str):
        if value.startswith('base64:'):
            return text_of(base64.b64decode(value[7:]))
        return value
    if isinstance(value, bytes):
        for unpack in (gzip.decompress, zlib.decompress):
            try:
                return unpack(value).decode('utf8', 'replace')
            except Exception:
                pass
        return value.decode('utf8', 'replace')
    return ''


def pairs(name, data):
    """(url, request, response, date) of each interaction in a file."""
    if name.endswith('.gz'):
        data, name = gzip.decompress(data), name[:-3]
    if name.endswith('.httprr'):
        yield from httprr(data)
        return
    if re.search(r'\.ya?ml$', name):
        if b'\nwhen:' in b'\n' + data[:2000]:
            for value in yaml.load_all(data, Loader):
                if isinstance(value, dict) and 'when' in value:
                    yield value['when'].get('path', ''), value['when'].get('body'), value['then'].get('body'), None
            return
        value = yaml.load(data, Loader)
    else:
        value = json.loads(data)
    if not isinstance(value, dict):
        return
    entries = value.get('interactions') or value.get('http_interactions') or value.get('log', {}).get('entries')
    if entries is None and 'request' in value and 'response' in value:
        entries = [value]
    for entry in entries or []:
        if not isinstance(entry, dict):
            continue
        request, response = entry.get('request') or {}, entry.get('response') or {}
        if not isinstance(request, dict) or not isinstance(response, dict):
            continue
        url = request.get('uri') or request.get('url') or ''
        sent = request.get('parsed_body') or (request.get('postData') or {}).get('text') or request.get('body')
        got = response.get('parsed_body') or response.get('content') or response.get('body')
        if isinstance(got, dict) and '__data__' in got:
            got = json.dumps(got['__data__'])
        elif isinstance(got, list) and got and isinstance(got[0], dict) and '__data__' in got[0]:
            got = '\n'.join('data: ' + json.dumps(one['__data__']) for one in got)
        headers = response.get('headers') or {}
        if isinstance(headers, list):
            headers = {one['name']: one['value'] for one in headers}
        date = headers.get('Date') or headers.get('date') or entry.get('recorded_at') or entry.get('startedDateTime')
        yield url, sent, got, date[0] if isinstance(date, list) else date


def httprr(data):
    head, _, rest = data.partition(b'\n')
    while rest:
        sizes, _, rest = rest.partition(b'\n')
        if len(sizes.split()) != 2:
            return
        first, second = map(int, sizes.split())
        request, response, rest = rest[:first], rest[first:first + second], rest[first + second:]
        start, _, sent = request.partition(b'\n\n') if b'\r\n\r\n' not in request else request.partition(b'\r\n\r\n')
        headers, _, got = response.partition(b'\r\n\r\n') if b'\r\n\r\n' in response else response.partition(b'\n\n')
        if b'chunked' in headers.lower():
            got = unchunked(got)
        date = re.search(rb'^date: (.*?)\r?$', headers, re.I | re.M)
        yield start.split()[1].decode(), sent, got, date and date[1].decode()


def unchunked(data):
    parts = []
    while data:
        size, _, data = data.partition(b'\r\n')
        try:
            length = int(size.split(b';')[0], 16)
        except ValueError:
            return b''.join(parts) or data
        parts.append(data[:length])
        data = data[length + 2:]
    return b''.join(parts)


def answers(text):
    """The JSON values of an answer, also of a stream."""
    text = text.strip()
    if text.startswith(('{', '[')):
        try:
            value = json.loads(text)
            yield from (value if isinstance(value, list) else [value])
            return
        except ValueError:
            pass
    for line in text.splitlines():
        if line.startswith('data:') and line[5:].strip().startswith('{'):
            try:
                yield json.loads(line[5:])
            except ValueError:
                pass


def usage_of(api, text):
    """(tokens of the input, model, details), or None."""
    tokens = model = details = None
    for value in answers(text):
        if not isinstance(value, dict):
            continue
        inner = value.get('response') or value.get('message') or value
        if not isinstance(inner, dict):
            inner = value
        model = inner.get('model') or inner.get('modelVersion') or model
        usage = inner.get('usage') or inner.get('usageMetadata') or value.get('usage') or value.get('metadata', {}) and None
        if api.endswith('-count'):
            found = value.get('input_tokens', value.get('totalTokens'))
            tokens, details = found, value
        elif not isinstance(usage, dict):
            continue
        elif api == 'anthropic' or (api == 'bedrock-invoke' and 'input_tokens' in usage):
            if 'input_tokens' in usage and tokens is None:
                tokens = sum(usage.get(name) or 0 for name in ('input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'))
                details = usage
        elif api == 'gemini':
            tokens, details = usage.get('promptTokenCount', tokens), usage
        elif api == 'bedrock':
            tokens = sum(usage.get(name) or 0 for name in ('inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'))
            details = usage
        elif api == 'cohere':
            tokens, details = (usage.get('tokens') or {}).get('input_tokens'), usage
        else:
            tokens = usage.get('prompt_tokens', usage.get('input_tokens', tokens))
            details = usage
    return None if tokens is None or tokens == 0 else (int(tokens), model, details)


def main(sources):
    seen = set()
    for source in sources:
        project, _, directory = source.partition('=')
        names = git(directory, 'ls-tree', '-r', '--name-only', 'HEAD').decode().splitlines()
        licence = ' '.join(git(directory, 'show', f'HEAD:{one}').decode('utf8', 'replace')
                           for one in names if re.fullmatch(r'LICEN[CS]E[^/]*', one) and not one.endswith('.csv'))
        licence = next((one for one, words in LICENCES if words in ' '.join(licence.split())), None)
        day = git(directory, 'log', '-1', '--format=%cs').decode().strip()
        count = 0
        for name, data in blobs(directory, [one for one in names if PLACES.search(one) and NAMES.search(one)]):
            if b'oken' not in data and not name.endswith('.gz'):
                continue
            try:
                interactions = list(pairs(name, data))
            except Exception as problem:
                if b'prompt_tokens' in data or b'input_tokens' in data:
                    print(f'{project} {name}: {str(problem)[:80]!r}', file=sys.stderr)
                continue
            for url, sent, got, date in interactions:
                try:
                    body = json.loads(text_of(sent))
                except ValueError:
                    continue
                path = str(url).split('?')[0]
                api = next((one for one, pattern in PATHS if re.search(pattern, path)), None)
                if api is None or not isinstance(body, dict):
                    continue
                provider = next((one for one, host in HOSTS if host in str(url)), None)
                if provider is None:
                    provider = next((one for one, _ in HOSTS if re.search(rf'/{one}/', name)), 'other')
                try:
                    usage = usage_of(api, text_of(got))
                except Exception as problem:
                    print(f'{project} {name}: {problem!r}', file=sys.stderr)
                    continue
                if usage is None:
                    continue
                tokens, model, details = usage
                named = re.search(r'/models?/([^/:]+)', path) or re.search(r'/deployments/([^/]+)', path)
                key = json.dumps([api, provider, body, model, tokens], sort_keys=True)
                if key in seen:
                    continue
                seen.add(key)
                count += 1
                print(json.dumps({
                    'project': project, 'source': name, 'licence': licence, 'date': date or day, 'provider': provider, 'api': api,
                    'model': model or body.get('model') or (named and named[1]), 'tokens': tokens, 'usage': details, 'body': body,
                }, ensure_ascii=False, separators=(',', ':')))
        print(project, licence, count, file=sys.stderr)


main(sys.argv[1:])
