"""Runs vLLM's tests of its tool and reasoning parsers against @tokenlane/completions.

The tests are those of a source distribution of vLLM (Apache-2.0), which is not part of this
repository: `pip download --no-deps --no-binary :all: --no-clean vllm`. This file stands in for the
modules that they import: a parser of theirs is a call of answers.mjs. A text is compared without
the white space around it, because vLLM leaves what the template writes there to its caller.

    python tools/compare/completions/cases.py VLLM [--write FILE] [-k EXPRESSION]

Prints the tests that fail; with --write, the answers of the tests that pass become test data.
Needs pytest, and node in PATH.
"""

import argparse
import importlib.abc
import importlib.machinery
import json
import re
import subprocess
import sys
import types
from collections import defaultdict
from pathlib import Path
from unittest.mock import MagicMock

import pytest

ROOT = Path(__file__).parents[3]
NODE = subprocess.Popen(["node", str(Path(__file__).with_name("answers.mjs"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

FORMATS = {
    "hermes": "hermes", "granite4": "hermes", "hermes2pro": "hermes", "qwen3": "qwen3-coder", "longcat": None,
    "granite": "granite", "graniteengine": "granite", "granitethinking": "granite", "llama3json": "llama3", "llama3": "llama3",
    "llama4pythonic": "pythonic", "pythonic": "pythonic", "olmo3": "pythonic", "olmo3pythonic": "pythonic", "lfm2": "pythonic",
    "mistral": "mistral", "deepseekv3": "deepseek-v3", "deepseekr1": "deepseek-v3", "deepseekv31": "deepseek-v3.1",
    "deepseekv32": "deepseek-v3.2", "deepseekv4": "deepseek-v3.2", "kimik2": "kimi-k2", "glm4moe": "glm-4.5",
    "glm47moe": "glm-4.5", "glm45": "glm-4.5", "glm47moemodel": "glm-4.5", "glm4moemodel": "glm-4.5",
    "minimaxm2": "minimax-m2", "minimax": "minimax-m1", "gemma4": "gemma4", "gemma4engine": "gemma4",
    "functiongemma": "functiongemma", "phi4minijson": "phi-4", "hunyuana13b": "hunyuan", "step3": "step3",
    "step3p5": "qwen3-coder", "qwen3coder": "qwen3-coder", "qwen3xml": "qwen3-coder", "qwen3engine": "qwen3-coder",
    "seedoss": "qwen3-coder", "nemotronv3": "qwen3-coder", "holo2": "qwen3-coder", "deepseekv32engine": "deepseek-v3.2",
    "deepseekv4engine": "deepseek-v3.2", "basethinking": "hermes",
}
# Parsers that take an answer without markers for reasoning.
IN_REASONING = {"deepseekr1", "qwen3", "step3", "nemotronv3", "step3p5", "minimaxm2", "holo2", "kimik2"}


def ask(**question):
    NODE.stdin.write(json.dumps(question) + "\n")
    NODE.stdin.flush()
    answer = json.loads(NODE.stdout.readline())
    RECORD.append((question, answer))
    return answer


RECORD = []


class Text(str):
    """A text that equals others but for the white space around it."""

    def __eq__(self, other):
        return (other or "").strip() == self.strip() if other is None or isinstance(other, str) else False

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


class Fields(types.SimpleNamespace):
    def __init__(self, *args, **kwargs):
        super().__init__(**kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def model_dump(self, **_):
        return {name: value.model_dump() if isinstance(value, Fields) else value for name, value in vars(self).items()}


class ToolCall(Fields):
    def __init__(self, **kwargs):
        super().__init__(**{"type": "function", **kwargs})


class ChatCompletionRequest(Fields):
    def __init__(self, **kwargs):
        super().__init__(**{"tools": None, "skip_special_tokens": True, **kwargs})

    @classmethod
    def model_validate(cls, fields):
        return cls(**fields)


def plain(value):
    if isinstance(value, Fields):
        return plain(vars(value))
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def name_of(name):
    name = re.sub(r"(Tool|Reasoning)?Parser(ReasoningAdapter)?$|_?(tool|reasoning)_parser$", "", name)
    return name.replace("_", "").lower()


class Parser:
    name = None

    def __init__(self, tokenizer=None, tools=None, **kwargs):
        self.model_tokenizer = tokenizer
        self.vocab = {}
        self.kwargs = kwargs.get("chat_template_kwargs") or {}
        self.tools = tools
        self.format = FORMATS.get(self.name, None)
        if self.format is None:
            pytest.skip(f"no format for {self.name}")

    def options(self, request):
        tools = plain(getattr(request, "tools", None) or self.tools or [])
        tools = [tool for tool in tools if isinstance(tool, dict)]
        return {"tools": tools} if tools else {}

    def extract_tool_calls(self, model_output, request=None, **_):
        message = ask(format=self.format, text=model_output, options={"startsIn": "text", **self.options(request)})["message"]
        calls = [ToolCall(id=call["id"], function=Fields(**call["function"])) for call in message.get("tool_calls", [])]
        content = message["content"]
        return Fields(tools_called=bool(calls), tool_calls=calls, content=Text(content) if content and content.strip() else None)

    def starts(self):
        thinks = self.kwargs.get("enable_thinking", self.kwargs.get("thinking", None))
        return {"startsIn": "reasoning"} if self.name in IN_REASONING and thinks is not False else {}

    def extract_reasoning(self, model_output, request=None, **_):
        answer = ask(format=self.format, text=model_output, options=self.starts())
        reasoning = answer["message"].get("reasoning_content")
        # vLLM looks for calls in what is left.
        content = answer["message"]["content"] or ""
        if "tool_calls" in answer["message"]:
            content = "".join(part["raw"] for part in answer["parts"] if part["type"] != "reasoning")
        return Text(reasoning) if reasoning else None, Text(content) if content.strip() else None

    def pushed(self, previous, delta, options):
        if previous == "":
            ask(format=self.format, options=options, isStream=True)
        return ask(push=delta)["events"]

    def extract_tool_calls_streaming(self, *values, **named):
        previous, _, delta = [*values, *(named.get(name) for name in ("previous_text", "current_text", "delta_text"))][:3]
        request = named.get("request") or next((value for value in values if isinstance(value, ChatCompletionRequest)), None)
        events = self.pushed(previous, delta, {"startsIn": "text", **self.options(request)})
        content = "".join(event["text"] for event in events if event["type"] == "text")
        calls = []
        for event in events:
            if event["type"] != "toolCall" or event.get("isDone"):
                continue
            new = event["index"] not in self.seen if previous else True
            self.seen = (self.seen if previous else set()) | {event["index"]}
            named = {"name": event["name"], "id": event["id"]} if new else {}
            function = Fields(name=named.get("name"), arguments=event["arguments"])
            calls.append(Fields(index=event["index"], type="function", id=named.get("id"), function=function))
        return Fields(content=Text(content) if content else None, tool_calls=calls) if content or calls else None

    def extract_reasoning_streaming(self, *values, **named):
        previous, _, delta = [*values, *(named.get(name) for name in ("previous_text", "current_text", "delta_text"))][:3]
        events = self.pushed(previous, delta, self.starts())
        texts = {kind: "".join(event["text"] for event in events if event["type"] == kind) for kind in ("reasoning", "text")}
        if texts["reasoning"] and texts["text"]:
            pytest.skip("both in one delta")
        reasoning, content = texts["reasoning"] or None, texts["text"] or None
        return Fields(reasoning=reasoning, content=content) if reasoning or content else None

    seen = frozenset()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: pytest.skip(f"{name} is vLLM's own")


class Tokenizer:
    """Tokens of a few characters, in place of those of a model."""

    def __init__(self):
        self.tokens = []

    def tokenize(self, text):
        return re.findall(r"<[^<>\s]*>|\s?\w{1,6}|\s|.", text)

    def encode(self, text, **_):
        first = len(self.tokens)
        self.tokens += self.tokenize(text)
        return list(range(first, len(self.tokens)))

    def decode(self, ids, **_):
        return "".join(self.tokens[token] for token in ids)

    def get_vocab(self):
        return defaultdict(int)

    def convert_tokens_to_string(self, tokens):
        return "".join(tokens)

    def convert_ids_to_tokens(self, ids, **_):
        return [self.tokens[token] for token in ids]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)


Tokenizer.of = staticmethod(lambda *_, **__: Tokenizer())
TOKENIZERS = types.SimpleNamespace(from_pretrained=Tokenizer.of)


def parser_class(name):
    return type(name, (Parser,), {"name": name_of(name)})


MANAGER = types.SimpleNamespace(get_tool_parser=parser_class, get_reasoning_parser=parser_class)
KNOWN = {
    "ToolCall": ToolCall, "ChatCompletionRequest": ChatCompletionRequest, "ResponsesRequest": ChatCompletionRequest,
    "ToolParserManager": MANAGER, "ReasoningParserManager": MANAGER,
}
FIELDS = {"FunctionCall", "DeltaMessage", "DeltaToolCall", "DeltaFunctionCall", "ExtractedToolCallInformation",
          "ChatCompletionToolsParam", "FunctionDefinition", "FunctionTool"}


class Module(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in KNOWN:
            return KNOWN[name]
        if name in FIELDS:
            KNOWN[name] = type(name, (Fields,), {})
            return KNOWN[name]
        if name.endswith("Parser") or name.endswith("ReasoningAdapter"):
            return parser_class(name)
        if name in ("AutoTokenizer", "get_tokenizer"):
            return TOKENIZERS if name == "AutoTokenizer" else Tokenizer.of
        return MagicMock(name=name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    roots = ("vllm", "transformers", "openai", "xgrammar", "partial_json_parser", "torch", "regex")

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.roots:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return re if spec.name == "regex" else Module(spec.name)

    def exec_module(self, module):
        pass


class Recorder:
    def __init__(self):
        self.outcomes = {}
        self.cases = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        RECORD.clear()
        outcome = yield
        if outcome.excinfo is None:
            for question, answer in RECORD:
                if "text" in question:
                    self.cases[json.dumps(question, sort_keys=True)] = (item.nodeid.split("/")[-1], question, answer)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            self.outcomes[report.nodeid] = (report.outcome, str(report.longrepr)[-1500:] if report.failed else "")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("vllm")
    options.add_argument("--write")
    options.add_argument("-k", default="")
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    sys.meta_path.insert(0, Finder())
    sys.path.insert(0, given.vllm)
    recorder = Recorder()
    tests = Path(given.vllm) / "tests"
    skipped = ["test_structural_tag_registry.py", "test_utils.py", "test_kimi_k3_named_tool_choice.py"]
    files = [str(path) for folder in ("tool_parsers", "reasoning") for path in sorted((tests / folder).glob("test_*.py")) if path.name not in skipped]
    arguments = [*files, "-q", "--noconftest", "-p", "no:cacheprovider", "-p", "bridge_fixtures", "--tb=short", "--no-header", "-k", given.k, "--rootdir", given.vllm, "-c", "/dev/null"]
    fixtures = types.ModuleType("bridge_fixtures")
    fixtures.default_tokenizer = pytest.fixture(lambda: Tokenizer())
    sys.modules["bridge_fixtures"] = fixtures
    pytest.main(arguments if given.verbose else [*arguments, "--show-capture=no"], plugins=[recorder])
    NODE.stdin.close()
    if given.write:
        cases = [[test, question["format"], question["text"], question["options"], compact(answer)] for test, question, answer in recorder.cases.values()]
        version = re.search(r"^Version: (.*)$", (Path(given.vllm) / "PKG-INFO").read_text(), re.M)[1]
        head = {"source": f"vLLM {version}, tests/tool_parsers and tests/reasoning", "licence": "Apache-2.0"}
        lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
        Path(given.write).write_text(json.dumps(head)[:-1] + f', "cases": [\n{lines}\n]}}\n')


def compact(answer):
    message = answer["message"]
    calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls", [])]
    return [message["content"], message.get("reasoning_content"), calls, [item["kind"] for item in answer["damage"]]]


if __name__ == "__main__":
    main()
