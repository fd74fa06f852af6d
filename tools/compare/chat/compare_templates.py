"""Renders conversations with transformers, for every chat template of a folder.

The conversations are random, and those that client libraries send (testdata/chat/clients.json).

The result is the input of compare_templates.mjs, which renders the same conversations with
tokenlane. For maintainers; needs the virtual environment of tools/data/record.py. The
templates are other people's files, so keep the folder outside the repository.

    .cache/record/bin/python tools/compare/chat/compare_templates.py FOLDER CASES.json
        [--each 40] [--seed 1]
    node tools/compare/chat/compare_templates.mjs CASES.json

FOLDER has `*.jinja` files. The script finds the variables, fields and constants of a template in
its syntax tree and uses them in the conversations, so that these reach the template's branches.
Both programs use the same fixed clock.
"""

import argparse
import inspect
import json
import random
import re
from datetime import datetime
from pathlib import Path

import jinja2
from jinja2 import meta, nodes
from transformers.utils import chat_template_utils

NOW = datetime(2026, 7, 4, 9, 5, 7)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
FUNCTIONS = {"raise_exception", "strftime_now", "range", "namespace", "dict"}
ARGUMENTS = set(inspect.signature(chat_template_utils.render_jinja_template).parameters) | {"messages"}
TEXTS = [
    "", " ", "\n", "Hello!", "  padded \n\n", "naïve Größe ß İı", "東京 の天気は？", "😀👩‍👩‍👧 𝒜𐍈", "it's \"quoted\" \\ and {{ braces }} {% x %}",
    "<think>\n hm \n</think>\n\nAn answer.", "</think> only the end", "a\r\nb\tc\x0b\x0cd\x1f\x7f\x85\u00a0\u2028\u3000e", "<|im_end|><s>[INST] x [/INST]<tool_call>",
    "עברית e\u0301 \ud55c\u1112\u1161\u11ab", "<b>&amp;</b>", "'", "%s %d 100%", "1\n2\n3\n", "/no_think", "Be brief. /think",
    '{"name": "f", "arguments": {"a": [1, null]}}', "x" * 3000, "Wörter und mehr. " * 150, "line\n" * 200,
]
CLIENTS = json.loads((Path(__file__).parents[3] / "__test__/testdata/chat/clients.json").read_text())["clients"]
ROLES = ["system", "user", "assistant", "tool", "developer", "function", "ipython", "tool_response", "nobody"]
# How often a conversation has messages of a kind that some templates refuse.
STYLE = {"wild": 0.25, "parts": 0.25, "calls": 0.5, "arguments in text": 0.35}


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def text_of(rng):
    return rng.choice(TEXTS) if rng.random() < 0.8 else "".join(rng.choice(TEXTS)[:40] for _ in range(rng.randint(2, 4)))


def value_of(rng, depth=3):
    """A JSON value. Floats are never whole, because JSON.parse cannot tell 1.0 from 1."""
    kind = rng.randrange(9 if depth else 7)
    if kind < 3:
        return text_of(rng)
    if kind == 3:
        return rng.choice([0, 1, -1, 7, 42, 2**31, -(2**53) + 1, 10**15])
    if kind == 4:
        return rng.choice([0.1, -2.5, 1e-7, 3.14159265358979, 1.5e300, 123456.789])
    if kind == 5:
        return rng.random() < 0.5
    if kind == 6:
        return None
    if kind == 7:
        return [value_of(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {name_of(rng): value_of(rng, depth - 1) for _ in range(rng.randint(0, 3))}


def name_of(rng):
    return rng.choice(["city", "days", "name", "type", "items", "keys", "größe", "a b", "😀", "x", "value", "description"])


def schema_of(rng, depth=2):
    kind = rng.choice(["string", "integer", "number", "boolean", "array", "object"])
    schema = {"type": kind if rng.random() < 0.9 else [kind, "null"]}
    extra = {
        "description": text_of, "enum": lambda r: [value_of(r, 0) for _ in range(r.randint(1, 3))], "default": value_of,
        "nullable": lambda r: r.random() < 0.5, "title": text_of, "minimum": lambda r: 1, "format": lambda r: "date",
    }
    schema |= {name: make(rng) for name, make in extra.items() if rng.random() < 0.25}
    if kind == "array" and rng.random() < 0.8:
        schema["items"] = schema_of(rng, depth - 1) if depth else {"type": "string"}
    if kind == "object" or (depth and rng.random() < 0.1):
        schema |= object_of(rng, depth - 1) if depth else {"properties": {}}
    if rng.random() < 0.1:
        schema[rng.choice(["anyOf", "oneOf"])] = [{"type": "string"}, {"type": "integer"}]
    return schema


def object_of(rng, depth):
    properties = {name_of(rng): schema_of(rng, max(depth, 0)) for _ in range(rng.randint(0, 4))}
    schema = {"type": "object", "properties": properties}
    if rng.random() < 0.7:
        schema["required"] = rng.sample(list(properties), rng.randint(0, len(properties)))
    if rng.random() < 0.2:
        schema["additionalProperties"] = rng.random() < 0.5
    return schema


def tool_of(rng):
    function = {"name": rng.choice(["get_weather", "now", "browser.search", "python", "größe"])}
    if rng.random() < 0.9:
        function["description"] = text_of(rng)
    if rng.random() < 0.9:
        function["parameters"] = object_of(rng, 2)
    if rng.random() < 0.15:
        function["return"] = {"type": "string", "description": text_of(rng)}
    return {"type": "function", "function": function} if rng.random() < 0.85 else function


def call_of(rng, style):
    arguments = {name_of(rng): value_of(rng) for _ in range(rng.randint(0, 3))}
    if rng.random() < style["arguments in text"]:
        arguments = json.dumps(arguments, ensure_ascii=rng.random() < 0.5)
    function = {"name": rng.choice(["get_weather", "now"]), "arguments": arguments}
    call = {"id": rng.choice(["abcdefghi", "call_1", "1"]), "type": "function", "function": function}
    return call if rng.random() < 0.85 else function


def content_of(rng, style):
    if rng.random() >= style["parts"]:
        return text_of(rng)
    parts = []
    for _ in range(rng.randint(0, 3)):
        kind = rng.choice(["text", "text", "text", "image", "image_url", "audio", "video", "other"])
        parts.append({"type": kind, **({"text": text_of(rng)} if kind == "text" else {} if rng.random() < 0.5 else {kind: "data:x"})})
    return parts


def message_of(rng, role, style):
    message = {"role": role, "content": content_of(rng, style)}
    if role == "assistant":
        if rng.random() < style["calls"]:
            message["tool_calls"] = [call_of(rng, style) for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, 3))]
            if rng.random() < 0.6:
                message["content"] = rng.choice([None, ""])
        if rng.random() < 0.3:
            message[rng.choice(["reasoning_content", "thinking", "reasoning"])] = text_of(rng)
    if role in ("tool", "function", "ipython"):
        message |= {"tool_call_id": rng.choice(["abcdefghi", "call_1"]), "name": "get_weather"}
        if rng.random() < style["wild"] * 0.3:
            message["content"] = value_of(rng)
    if rng.random() < style["wild"] * 0.05:
        message.pop("content")
    return message


class Mentions:
    """The undefined variables, the field names, and the compared strings of a template."""

    def __init__(self, source):
        # transformers' own statement `generation` becomes one that jinja2 knows.
        known = re.sub(r"({%[-+]?\s*)(end)?generation\b", lambda tag: tag[1] + ("endif" if tag[2] else "if true"), source)
        tree = jinja2.Environment(extensions=["jinja2.ext.loopcontrols"]).parse(known)
        self.variables = sorted(meta.find_undeclared_variables(tree) - FUNCTIONS - ARGUMENTS - set(TOKENS))
        fields = {node.attr for node in tree.find_all(nodes.Getattr)}
        fields |= {node.arg.value for node in tree.find_all(nodes.Getitem) if isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str)}
        compared = {node.value for one in tree.find_all(nodes.Compare) for node in one.find_all(nodes.Const) if isinstance(node.value, str)}
        self.fields = sorted(fields - {"role", "content"})
        self.strings = sorted(compared | fields) or ["x"]


def decorate(rng, value, mentions):
    """Adds fields that the template reads to some of the dicts in a value."""
    if isinstance(value, list):
        for one in value:
            decorate(rng, one, mentions)
    elif isinstance(value, dict):
        for one in list(value.values()):
            decorate(rng, one, mentions)
        if mentions.fields and rng.random() < 0.15:
            value[rng.choice(mentions.fields)] = rng.choice(mentions.strings) if rng.random() < 0.4 else value_of(rng, 2)


def case_of(rng, mentions):
    style = {name: rng.random() < often for name, often in STYLE.items()}
    style |= {"parts": style["parts"] * 0.4, "arguments in text": style["arguments in text"] * 0.7, "calls": style["calls"] * 0.5}
    wild = style["wild"]
    roles = ["system"] if rng.random() < 0.4 else []
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        roles += ["user", "assistant"]
        if style["calls"] and rng.random() < 0.6:
            roles += ["tool"] * rng.randint(1, 2) + ["assistant"] * (rng.random() < 0.7)
    if rng.random() < 0.6:
        roles = roles[: max(1, len(roles) - 1)]
    if wild and rng.random() < 0.5:
        roles = [rng.choice(ROLES if rng.random() < 0.7 else mentions.strings) if rng.random() < 0.4 else role for role in roles]
    case = {"messages": [message_of(rng, role, style) for role in roles], "add_generation_prompt": rng.random() < 0.5}
    if rng.random() < 0.5:
        case["tools"] = [tool_of(rng) for _ in range(rng.randint(0 if rng.random() < 0.2 else 1, 3))]
    if rng.random() < 0.15:
        case["documents"] = [{"title": text_of(rng), "text": text_of(rng)} for _ in range(rng.randint(0, 2))]
    if wild:
        decorate(rng, case["messages"], mentions)
    variables = {name: text for name, text in TOKENS.items() if rng.random() < 0.95}
    for name in mentions.variables:
        if rng.random() < 0.4:
            pick = rng.random()
            variables[name] = rng.random() < 0.5 if pick < 0.55 else rng.choice(mentions.strings) if pick < 0.8 else value_of(rng, 2)
    return case | {"variables": variables}


def client_case(rng, messages):
    """A recorded conversation, with tools or without."""
    tools = {"tools": [tool_of(rng) for _ in range(2)]} if rng.random() < 0.5 else {}
    return {"messages": messages, "add_generation_prompt": rng.random() < 0.5, "variables": TOKENS} | tools


def render(source, case):
    given = {"tools": case.get("tools"), "documents": case.get("documents"), "add_generation_prompt": case["add_generation_prompt"]}
    return chat_template_utils.render_jinja_template([case["messages"]], chat_template=source, **given, **case["variables"])[0][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--each", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chat_template_utils.datetime = Clock
    templates = {}
    cases = []
    for file in sorted(options.folder.glob("*.jinja")):
        source = file.read_bytes().decode()
        try:
            mentions = Mentions(source)
        except jinja2.TemplateSyntaxError:
            mentions = Mentions("")  # transformers refuses it, and so should tokenlane
        templates[file.name] = source
        rng = random.Random(f"{options.seed} {source}")
        for made in [case_of(rng, mentions) for _ in range(options.each)] + [client_case(rng, messages) for messages in CLIENTS.values()]:
            case = {"template": file.name} | made
            try:
                case["text"] = render(source, json.loads(json.dumps(case)))
            except Exception as error:
                case["error"] = f"{type(error).__name__}: {error}"[:200]
            cases.append(case)
    result = {"now": NOW.isoformat(), "templates": templates, "cases": cases}
    options.cases.write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")
    failed = sum("error" in case for case in cases)
    print(f"{len(templates)} templates, {len(cases)} conversations, {failed} of them refused")


if __name__ == "__main__":
    main()
