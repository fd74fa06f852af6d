"""Random templates, rendered with jinja2 as transformers sets it up.

They have variables in nested blocks, or expressions. The result is the input of
compare_templates.mjs, which renders the same templates with tokenlane. Some of them are cases of
the tests (testdata/chat/random-templates.json). For maintainers; needs the virtual environment of
tools/data/record.py.

    .cache/record/bin/python tools/compare/chat/random_templates.py CASES.json [--count 4000]
        [--seed 1]
    node tools/compare/chat/compare_templates.mjs CASES.json
"""

import argparse
import json
import random

NAMES = ["a", "b", "c", "i", "l"]
VARIABLES = {"a": "A", "b": "B", "l": [1, 2], "i": 7, "d": {"k": "v", "a": [1.5, None]}, "s": "Ab c"}


class Blocks:
    """A template of nested statements that read and set few names, so that most of them meet."""

    def __init__(self, rng):
        self.rng = rng
        self.blocks = 0
        self.macros = ["m"]

    def value(self, in_loop=False):
        rng = self.rng
        return rng.choice([
            lambda: f"'{rng.choice('pqr')}'", lambda: str(rng.randint(0, 3)), lambda: rng.choice(NAMES), lambda: f"{rng.choice(NAMES)} ~ '{rng.choice('xy')}'",
            lambda: f"{rng.choice(self.macros)}()", lambda: f"{rng.choice(NAMES)}|default('-')", lambda: f"[{rng.choice(NAMES)}]",
            lambda: rng.choice(["loop.index", "loop.last", "loop", "loop.length", "loop.nextitem"]) if in_loop or rng.random() < 0.03 else rng.choice(NAMES),
        ])()

    def target(self):
        return self.rng.choice(NAMES) if self.rng.random() < 0.85 else f"{self.rng.choice(NAMES)}, {self.rng.choice(NAMES)}"

    def set(self):
        target = self.target()
        return "{% set " + target + " = " + (", ".join(self.value() for _ in range(2)) if "," in target else self.value()) + " %}"

    def loop(self, depth):
        rng = self.rng
        test = f" if {rng.choice(NAMES)} != '{rng.choice('pq')}'" if rng.random() < 0.25 else ""
        iterable = rng.choice(["l", "[1, 2]", "'uv'", "[]", "l|map('string')", "range(2)", "c"])
        target = rng.choice(NAMES)
        if rng.random() < 0.15:
            target, iterable = f"{rng.choice(NAMES)}, {rng.choice(NAMES)}", "[[1, 2], 'uv']"
        recursive = " recursive" if rng.random() < 0.15 else ""
        body = self.body(depth - 1, True)
        if recursive and rng.random() < 0.7:
            body += "{% if loop.depth < 2 %}{{ loop([3]) }}{% endif %}"
        otherwise = "{% else %}" + self.body(depth - 1) if rng.random() < 0.25 else ""
        return "{% for " + target + " in " + iterable + test + recursive + " %}" + body + otherwise + "{% endfor %}"

    def macro(self, depth):
        name = self.rng.choice(["m", "n", "a"])
        self.macros.append(name)
        parameters = self.rng.sample(NAMES, self.rng.choice([0, 0, 1, 2]))
        written = ", ".join(f"{one}={self.value()}" for one in parameters)
        return "{% macro " + name + "(" + written + ") %}" + self.body(depth - 1) + self.rng.choice(["", "{{ caller() if caller else '' }}", "{{ varargs }}{{ kwargs }}"]) + "{% endmacro %}"

    def statement(self, depth, in_loop):
        rng = self.rng
        kind = rng.random()
        if kind < 0.3 or depth == 0:
            return "{{ " + self.value(in_loop) + " }}"
        if kind < 0.5:
            return self.set()
        if kind < 0.6:
            test = rng.choice([rng.choice(NAMES), "loop.first" if in_loop else "a", "1", "0"])
            other = rng.choice(["", "{% else %}" + self.body(depth - 1, in_loop), "{% elif b == 'p' %}" + self.body(depth - 1, in_loop)])
            return "{% if " + test + " %}" + self.body(depth - 1, in_loop) + other + "{% endif %}"
        if kind < 0.73:
            return self.loop(depth)
        if kind < 0.8:
            return self.macro(depth)
        if kind < 0.84:
            change = rng.choice(["", "", "|upper", f"|default({rng.choice(NAMES)})"])
            return "{% set " + rng.choice(NAMES) + change + " %}" + self.body(depth - 1, in_loop) + "{% endset %}"
        if kind < 0.87:
            return "{% filter " + rng.choice(["upper", f"default({rng.choice(NAMES)})", f"replace('1', {rng.choice(NAMES)})"]) + " %}" + self.body(depth - 1, in_loop) + "{% endfilter %}"
        if kind < 0.91:
            return "{% with " + rng.choice([f"{rng.choice(NAMES)} = {self.value()}", "a = 1, b = a", ""]) + " %}" + self.body(depth - 1, in_loop) + "{% endwith %}"
        if kind < 0.93:
            return "{% generation %}" + self.body(depth - 1) + "{% endgeneration %}"
        if kind < 0.95:
            return "{% call" + rng.choice(["", "", f"({rng.choice(NAMES)}='z')"]) + f" {rng.choice(self.macros)}() " + "%}" + self.body(depth - 1) + "{% endcall %}"
        if kind < 0.97:
            self.blocks += 1
            return "{% block k" + f"{self.blocks}{rng.choice(['', ' scoped'])}" + " %}" + self.body(depth - 1) + "{% endblock %}"
        if kind < 0.98 and in_loop:
            return "{% if loop.index == 2 %}{% " + rng.choice(["break", "continue"]) + " %}{% endif %}"
        if kind < 0.99:
            return "{% autoescape false %}" + self.body(depth - 1, in_loop) + "{% endautoescape %}"
        return "{% set ns.x = " + self.value() + " %}{{ ns.x }}"

    def body(self, depth, in_loop=False):
        return "".join(self.statement(depth, in_loop) for _ in range(self.rng.randint(1, 3))) + ","

    def template(self):
        start = "{% macro m() %}<{{ a }}{{ c }}>{% endmacro %}" if self.rng.random() < 0.7 else ""
        start += "{% set ns = namespace(x=1) %}" if self.rng.random() < 0.7 else ""
        return start + "".join(self.statement(3, False) for _ in range(self.rng.randint(2, 6)))


TEXTS = ["''", "'ab'", "'ΣΑΣ Σ'", "'ΣΣ'", "'ǆ ŉx ß'", "'İıI'", "'a\\r\\nb\\x85c'", "'😀é'", "' 12 '", "'-0x1F'", "'１２'", "'1e5'", "'nan'", "'<a&\"\\'>'", "('x<y'|safe)", "'a-b_c d'",
         "'%s|%5.1f'", "'{0}{a}'", "'one two  three'", "'ﬃ ῳ Ω'", "'ა Ა'", "'ᾳ ᾼ'", "'A1.b'", "'\\t-\\v'"]
NUMBERS = ["0", "1", "-1", "3", "10**20", "-(10**20)", "2**53", "2**63", "0.0", "-0.0", "1.5", "-2.5", "1e16", "1e-5", "1e300", "true", "false", "0.1", "1_000", "123456789", "2.675"]
LISTS = ["[]", "[1]", "[3, 1, 2]", "['b', 'A', 'a']", "(1,)", "()", "(1, 'x', none)", "range(3)", "range(5, 0, -2)", "[1, 1.0, true]", "[none, 1]", "[[1, 2], [0]]", "[{'k': 1}, {'k': 'x'}]", "'ab'|list", "{'a': 1}.keys()",
         "{'a': 1}.values()", "{'a': 1, 'B': 2}.items()", "[1.5, 10**20, -1]", "('a', 'b')|map('upper')", "[('x', 1), ('y', 2)]", "namespace(a=1)"]
DICTS = ["{}", "{'a': 1}", "{1: 'x', 'b': none}", "{'B': 2, 'a': 1, 'c': [1]}", "{(1, 2): 3, 1.5: 4}", "{'items': 1, 'get': 2}", "{none: 1, true: 2}"]
OTHERS = ["none", "missing", "missing.x", "l.zz", "none|default('q')", "d.a", "d.k"]
FILTERS = """abs batch(2)|list batch(2,'-')|list capitalize center(9) count d('D') default('D',true) dictsort dictsort(by='value') dictsort(reverse=true) e escape filesizeformat filesizeformat(true) first float
float(2.5) forceescape format format(1) format(a=1) groupby('k')|list groupby(0)|list indent indent(2,true) indent('>') int int(7) int(0,16) int(base=8) items|list join join(',') join('-',attribute='k') last length list lower
map('upper')|list map('int')|list map(attribute='k')|list map(attribute=0,default='z')|list map('default','q')|list max max(attribute='k') min min(case_sensitive=true) reject('odd')|list rejectattr('k')|list replace('a','b') replace('a','b',1)
replace('','-') reverse|list round round(1) round(-1) round(1,'floor') round(0,'ceil') safe select|list select('string')|list select('gt',1)|list selectattr('k','eq',1)|list slice(2)|list slice(3,'f')|list sort sort(true)
sort(attribute='k') string sum sum(start=1) sum(attribute='k') title tojson tojson(indent=1) tojson(true) trim trim('ab') truncate(5) truncate(5,true,'') truncate(3,false,'..',0) unique|list unique(true)|list upper urlencode
wordcount wordwrap(4) wordwrap(4,false) wordwrap(3,true,'|') wordwrap(5,break_on_hyphens=false) xmlattr xmlattr(false) attr('a') attr('upper') striptags pprint""".split()
TESTS = """boolean callable defined divisibleby(2) divisibleby(0) eq(1) equalto('a') escaped even false float ge(1) gt(1) in([1,'a']) in('abc') integer iterable le(2) lower lt(2) mapping ne(1) none number odd sameas(none) sequence
string true undefined upper""".split()
TEXT_METHODS = """capitalize() casefold() center(9) center(8,'*') center(-1) count('a') count('',1) endswith('b') endswith(('b','c')) expandtabs() expandtabs(3) find('a') find('b',-1) format(1,a=2) format_map({'a':1}) index('a')
isalnum() isalpha() isascii() isdecimal() isdigit() isidentifier() islower() isnumeric() isprintable() isspace() istitle() isupper() join(['x','y']) join('abc') join([1]) ljust(7,'.') ljust(3,'ab') lower() lstrip() lstrip('a ')
partition('a') partition('') removeprefix('a') removesuffix('b') replace('a','bb') replace('','.',2) rfind('a') rindex('b') rjust(6) rpartition(' ') rsplit() rsplit(' ',1) rsplit(None,1) rstrip('b') split()
split('a') split(maxsplit=1) splitlines() splitlines(true) startswith('a') startswith('a',1) strip() strip('ab') swapcase() title() translate({97:'b'}) translate({97:none,98:120}) translate(['q']) translate('abc')
maketrans('ab','cd') maketrans({'a':'b'}) upper() zfill(5) zfill(-1) foo length()""".split()
LIST_METHODS = "index(1) index(1,1) count(1) copy() append(1) pop() sort() keys() foo items() get('a') get(1,2) values() start stop step".split()
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
SLICES = ["[0]", "[-1]", "[1:]", "[:2]", "[::-1]", "[:-1]", "[5:1:-2]", "[none:1]", "[true]", "['a']", "[1.0]", "[:1.5]", "['x':]", "[::0]", "[1, 2]", "[:10**30]", "[-(10**30):]", "[10**30]", "[:none:2]", "[missing]", "[:missing]", "[(1,)]", "[[1]]", "[{}]"]


def operand(rng, depth):
    kind = rng.random()
    if depth and kind < 0.25:
        return f"({expression(rng, depth - 1)})"
    return rng.choice(rng.choice([TEXTS, NUMBERS, LISTS, DICTS, OTHERS] if kind < 0.9 else [["s", "l", "d", "i"]]))


def expression(rng, depth=2):
    kind = rng.random()
    one = operand(rng, depth)
    bracketed = f"({one})"
    if kind < 0.3:
        return f"{bracketed}|{rng.choice(FILTERS)}"
    if kind < 0.38:
        return f"{bracketed} is {rng.choice(['', 'not '])}{rng.choice(TESTS)}"
    if kind < 0.6:
        return f"{bracketed}.{rng.choice(TEXT_METHODS if rng.random() < 0.7 else LIST_METHODS)}"
    if kind < 0.7:
        return bracketed + rng.choice(SLICES)
    if kind < 0.95:
        return f"{bracketed} {rng.choice(OPERATORS)} ({operand(rng, depth)})"
    if kind < 0.97:
        return f"{rng.choice(['-', '+', 'not '])}{bracketed}"
    return rng.choice([f"[{one}, {operand(rng, depth)}]", "{" + f"'k': {one}" + "}", f"{one} if {operand(rng, depth)} else {operand(rng, depth)}", f"dict(a={one})", f"'%s %r' % ({one},)"])


def templates(rng, blocks, expressions):
    for _ in range(blocks):
        yield Blocks(rng).template()
    for _ in range(expressions):
        yield "{{ " + expression(rng) + " }}"


def main():
    from transformers.utils.chat_template_utils import render_jinja_template

    parser = argparse.ArgumentParser()
    parser.add_argument("cases")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sources, cases = {}, []
    for at, source in enumerate(templates(random.Random(options.seed), options.count, options.count)):
        case = {"template": str(at), "messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": False, "variables": VARIABLES}
        try:
            case["text"] = render_jinja_template([case["messages"]], chat_template=source, **VARIABLES)[0][0]
        except Exception as error:
            case["error"] = f"{type(error).__name__}: {error}"[:200]
        if " at 0x" in case.get("text", ""):
            continue
        sources[str(at)] = source
        cases.append(case)
    with open(options.cases, "w", encoding="utf-8", errors="surrogatepass") as file:
        json.dump({"now": "2026-07-04T09:05:07", "templates": sources, "cases": cases}, file, ensure_ascii=False)
    print(f"{len(cases)} templates, {sum('error' in case for case in cases)} of them refused")


if __name__ == "__main__":
    main()
