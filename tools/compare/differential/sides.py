"""The two sides of the differential run, each a process that answers JSON lines.

    {"make": seed, "components": …}    -> {"made": definition}; the library's side only
    {"load": …, "format": …}           -> {…}; with "reread" the package writes the tokenizer and
                                          answers {"written": definition}; with "here" it loads
                                          that tokenizer
    {"all": [request, …]}              -> [answer, …], for these requests:
        {"encode": text or words, "options", "places", "also"}
                                       -> the columns; offsets in code points
        {"batch": texts, "options"}    -> {"rows": [columns, …]}
        {"decode": ids, "pieces", "options"}
                                       -> {"text", "streamed"}
        {"calls": text, "options"}     -> {"calls": messages}: the calls of the package that
                                          contradict others; the library answers []
        {"ids": ids, "tokens": tokens, "options"}
                                       -> {"tokens", "ids", "sizes"}
    {"wavers": request}                -> {"wavers": bool}: whether the library's answers to this
                                          request vary; the library's side only

The answer to a request that fails is {"failed": message}.
"""

import json
import pathlib
import select
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).parent


class Ended(Exception):
    """A side took too long, or its process ended. The next request starts it again."""


class Side:
    def __init__(self, command, seconds):
        self.command, self.seconds, self.process = command, seconds, None

    def ask(self, request):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            return json.loads(self.line())
        except (BrokenPipeError, Ended) as error:
            self.stop()
            raise Ended(str(error) or "it ended") from error

    def line(self):
        parts = []
        while not (parts and parts[-1].endswith(b"\n")):
            ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
            if not ready:
                raise Ended(f"it took more than {self.seconds} s")
            part = self.process.stdout.read1(1 << 20)
            if not part:
                raise Ended("its process ended")
            parts.append(part)
        return b"".join(parts)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def package():
    return Side(["node", str(FOLDER / "worker.mjs")], 60)


def library(seconds):
    return Side([sys.executable, str(FOLDER / "reference.py")], seconds)


def load_package(side, definition, form, reread=None):
    """Writes a definition to a file and loads it with the package. Returns the package's answer."""
    if form == "tiktoken-npm":  # the adapter reads the notation of the npm package tiktoken
        lines = [f"! {rank} {token}" for token, rank in definition["ranks"]]
        definition = definition | {"bpe_ranks": "\n".join(lines)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(definition, file)
        file.flush()
        answer = side.ask({"load": file.name, "format": form} | ({"reread": reread} if reread else {}))
    if "failed" in answer:
        answer["failed"] = answer["failed"].replace(f"{file.name}: ", "")
    return answer


def load_both(package, library, definition, form, reread=None):
    """Loads a definition on both sides, and returns their answers.

    With `reread` "here" the package uses the tokenizer that it wrote; with "there" the library uses
    it.
    """
    there = library.ask({"load": definition, "format": form})
    here = {} if "failed" in there else load_package(package, definition, form, reread)
    if reread == "there" and "written" in here:
        there = library.ask({"load": here["written"], "format": "hf"})
    return here, there
