"""Compares the harmony format with openai-harmony on random conversations.

Random messages of the assistant are rendered by openai-harmony, and read by its parser and by
@tokenlane/completions, as ids. With --record, what openai-harmony answers becomes test data.

    python tools/compare/completions/harmony.py [--count 2000] [--seed 1] [--record FILE]

Needs openai-harmony 0.0.8, node in PATH, and the vocabulary in a folder that
TIKTOKEN_ENCODINGS_BASE names, as o200k_base.tiktoken.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

from openai_harmony import Conversation, HarmonyEncodingName, HarmonyError, Message, Role, StreamableParser, load_harmony_encoding

TEXTS = ["", "Hello.", "a\n\nb", "東京 😀", "<|end|> as text", '{"a": "<|call|>"}', "to=functions.f", "  x ", "commentary"]
VALUES = ["{}", '{"city": "Paris"}', '{"a": [1, {"b": "x\\ny"}]}', '{"t": "<|message|>"}']
NAMES = ["functions.get_weather", "functions.now", "browser.search", "python", "functions.größe"]


def message_of(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return Message.from_role_and_content(Role.ASSISTANT, rng.choice(TEXTS)).with_channel("analysis")
    if kind == 1:
        return Message.from_role_and_content(Role.ASSISTANT, rng.choice(TEXTS)).with_channel(rng.choice(["final", "commentary"]))
    message = Message.from_role_and_content(Role.ASSISTANT, rng.choice(VALUES)).with_channel(rng.choice(["commentary", "analysis"] if kind == 3 else ["commentary"]))
    message = message.with_recipient(rng.choice(NAMES))
    return message.with_content_type("<|constrain|>json") if rng.random() < 0.7 else message


def answer_of(messages):
    """What a message of chat completions has of the messages of openai-harmony."""
    texts = {"analysis": "", "other": ""}
    calls = []
    for message in messages:
        content = "".join(part.text for part in message.content)
        if message.recipient is not None and message.recipient not in ("all", "assistant"):
            calls.append([message.recipient.removeprefix("functions."), content])
        else:
            # Two messages of one kind are two lines.
            kind = "analysis" if message.channel == "analysis" else "other"
            texts[kind] += ("\n" if texts[kind] else "") + content
    return [texts["other"], texts["analysis"], calls]


def parsed(encoding, ids):
    try:
        return encoding.parse_messages_from_completion_tokens(ids, Role.ASSISTANT, strict=False)
    except HarmonyError:
        # It ends within a header, which has no message yet.
        parser = StreamableParser(encoding, Role.ASSISTANT)
        for token in ids:
            parser.process(token)
        return parser.messages


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--record")
    given = options.parse_args()
    rng = random.Random(given.seed)
    encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)
    node = subprocess.Popen(["node", str(Path(__file__).with_name("answers.mjs"))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    start = encoding.encode("<|start|>assistant", allowed_special="all")
    differ, cases = 0, []
    for _ in range(given.count):
        conversation = [message_of(rng) for _ in range(rng.randint(1, 5))]
        ids = encoding.render_conversation(Conversation.from_messages(conversation))[len(start):]
        if rng.random() < 0.3:
            ids = ids[: -1 - rng.randrange(3)]
        expected = answer_of(parsed(encoding, ids))
        node.stdin.write(json.dumps({"format": "harmony", "model": "gpt-oss-20b", "ids": ids, "options": {}}) + "\n")
        node.stdin.flush()
        message = json.loads(node.stdout.readline())["message"]
        calls = [[call["function"]["name"], call["function"]["arguments"]] for call in message.get("tool_calls", [])]
        read = [message["content"] or "", message.get("reasoning_content", ""), calls]
        if read != expected:
            differ += 1
            if differ <= 5:
                print(json.dumps([encoding.decode(ids), expected, read], ensure_ascii=False))
        elif len(cases) < 60:
            cases.append([ids, expected])
    print(f"{given.count} conversations, {differ} differ")
    if given.record:
        lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
        Path(given.record).write_text(f'{{"source": "openai-harmony 0.0.8", "cases": [\n{lines}\n]}}\n')
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
