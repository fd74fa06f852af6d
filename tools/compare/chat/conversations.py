"""Conversations for the chat templates of the tests, and the other options of a call."""

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a place.\nIn degrees.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Größe, 東京 & <b>\"quoted\"</b>"},
                "days": {"type": "array", "items": {"type": "integer"}, "enum": [1, 2, 3]},
                "scale": {"type": ["string", "null"], "default": 1.5},
            },
            "required": ["city"],
        },
    },
}
TIME = {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}, "required": []}}}

SYSTEM = {"role": "system", "content": "  You are helpful.\n"}
HELLO = {"role": "user", "content": "Hello! \n How are you? 😀 "}
FINE = {"role": "assistant", "content": "Fine, thank you.\n\n"}
MORE = {"role": "user", "content": "naïve <|im_end|> and <s> in text"}
ASKS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2], "x": 0.1}}}],
}
ASKS_IN_TEXT = {
    "role": "assistant",
    "tool_calls": [
        {"id": "abcdefghi", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Zürich\"}"}},
        {"id": "ihgfedcba", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ],
}
ANSWERS = {"role": "tool", "tool_call_id": "abcdefghi", "content": "22.0 °C"}
MAPPED = {"role": "tool", "tool_call_id": "abcdefghi", "content": {"content": [1, True, None], "t": 2.5}}
THINKS = {"role": "assistant", "content": "<think>\n  hm \n\n</think>\n\nAn answer."}
THOUGHT = {"role": "assistant", "content": "An answer.", "reasoning": "\nhm\n"}
PARTS = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " What is this? "}]}

CHATS = {
    "one": [HELLO],
    "turns": [SYSTEM, HELLO, FINE, MORE],
    "answered": [HELLO, FINE],
    "two users": [HELLO, MORE],
    "call": [HELLO, ASKS, ANSWERS],
    "calls": [SYSTEM, HELLO, ASKS_IN_TEXT, ANSWERS, {**ANSWERS, "content": "12:00"}],
    "call done": [HELLO, ASKS, ANSWERS, FINE, MORE],
    "mapped": [HELLO, ASKS, MAPPED],
    "thinks": [HELLO, THINKS, MORE, THINKS],
    "thought": [HELLO, THOUGHT],
    "parts": [PARTS, FINE],
    "roles": [HELLO, {"role": "hidden", "content": "x"}, {**FINE, "stop": False}, {"role": "critic", "content": "no\nyes"}],
    "stops": [HELLO, {**FINE, "stop": True}, MORE],
}

DOCUMENTS = [{"title": "One", "text": "first\ntext"}, {"title": "Two", "text": "ß"}]

# The keys are the names of applyChatTemplate's options.
OPTIONS = [
    {},
    {"addGenerationPrompt": True},
    {"tools": [WEATHER, TIME], "addGenerationPrompt": True},
    {"documents": DOCUMENTS, "chatTemplate": "rag"},
    {"continueFinalMessage": True},
    {"continueFinalMessage": "reasoning_content"},
    {"variables": {"enable_thinking": False, "date_string": "1 Jan 2030", "in_user": True, "eos_token": "<END>"}, "addGenerationPrompt": True},
]
