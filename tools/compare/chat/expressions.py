"""Templates with one expression each, and templates with blocks and all kinds of white space."""

from itertools import product

VARIABLES = {
    "s": " Hello\n wörld 😀\n\n",
    "n": None,
    "t": True,
    "i": 7,
    "neg": -3,
    "fl": 2.5,
    "l": [3, 1, 2],
    "ls": ["b", "A", "c", "a"],
    "d": {"b": 1, "a": {"x": [1, 2]}, "items": 3},
    "ld": [{"k": "x", "v": 1}, {"k": "Y", "v": None}, {"k": "a"}],
    "u": "a\u0085b \ufeff",
    "ctrl": "it's \"q\"\t\u0000\u007f\u200b é",
}

OPERANDS = [*VARIABLES, "missing", "[]", "(1, 2)", "d.a.x", "d['items']"]
FILTERS = """abs capitalize trim upper lower title length first last list string tojson int float sort join(',') default('D') default('D',true)
tojson(indent=2) tojson(ensure_ascii=true) tojson(sort_keys=true) tojson(separators=(',',':')) indent indent(2,true) indent('>>',blank=true)
replace('l','L',1) round round(1) items|list dictsort max min sum map('upper')|list map(attribute='k')|list map(attribute='v',default='z')|list
selectattr('v')|list selectattr('k','equalto','x')|list rejectattr('v','none')|list select('string')|list reject('none')|list unique|list
sort(reverse=true) sort(case_sensitive=true) batch(2)|list wordcount center(20) e reverse|list tojson(indent=0) trim('x ') attr('k')""".split()
TESTS = """defined undefined none string number integer float boolean mapping sequence iterable odd even divisibleby(3) lower upper true false""".split()
TESTS += ["eq 7", "ne(1)", "gt 2", "in [1, 7]", "not in l", "sameas none", "not none", "not divisibleby 2"]
METHODS = r""".strip() .strip('\n') .lstrip() .rstrip('\n ') .split() .split('l',1) .split(None,1) .rsplit('l',1) .splitlines() .upper() .title()
.startswith((' H','x')) .endswith('\n') .replace('','-') .find('o') .count('l') .partition('l') .rpartition('l') .removeprefix(' H') .isspace()
.zfill(12) .ljust(20,'.') .center(21) .keys() .items() .get('b') .get('zz','D') .index(1) [1:] [:-1] [::-1] [5:1:-2] .foo .foo.bar ['foo'] .0
[0] [99] [-1] .append(1) .update({}) ()""".split()
OPERATORS = "+ - * / // % ** ~ == != < >= in and or".split()

EXPRESSIONS = [
    *OPERANDS,
    *(f"{a}|{f}" for a, f in product(OPERANDS, FILTERS)),
    *(f"{a} is {t}" for a, t in product(OPERANDS, TESTS)),
    *(a + m for a, m in product(OPERANDS, METHODS)),
    *(f"{a} {o} {b}" for a, o, b in product(["s", "n", "t", "i", "neg", "fl", "l", "d", "missing", "(1, 2)"], OPERATORS, ["s", "i", "neg", "l", "d", "missing"])),
    "i is odd|string", "i is not none|upper", "(i is eq 7)|lower", "i is none or i is not none and t", "'x' if i is defined else 'y'", "d.items()", "d.items is callable", "d.items is defined", "{}", "{}|length", "1 < i <= 7 > 3", "(1 < 2) == true", "1 < 2 == true", "(1,)", "(1, 2,)|length", "((1))",
    "i if t else 'no'", "i if n", "'a' 'b'", "1 + 2 * 3 - 4", "-i|abs", "not t and n", "t or n and n", "'%s and %d' % ('x', 3)", "range(5, 0, -2)|list",
    "dict(a=1, b=2)", "dict(d, z=1)|length", "namespace(a=1).a", "loop is defined", "s|length", "s[15]", "d == {'b': 1, 'a': {'x': [1, 2]}, 'items': 3}",
    "1 == true", "1 == 1.0", "n == missing", "'1' == 1", "100000000000000000.0", "0.00001", "[1.0, '1e5'|float]",
    "{1: 2}|tojson", "{'é': '\\n'}|tojson", "missing.x|default('q')", "missing.x is defined", "'a' < 'B'", "[1, 2] < [1, 3]", "n < 1", "'\\u00e9\\x41'",
    "'hello-world foo(bar'|title", "'ß'.upper()", "['a', 'A', 'b']|unique|list", "raise_exception('no')", "strftime_now('%%')", "(ld|selectattr('zz')) is defined",
    "{'a': 1}|attr('a')", "d|attr('a')", "d|attr('items') is callable", "namespace(a=1)|attr('a')", "s.rsplit(none, 1)", "' a  b '.rsplit(none, 1)", "'ΣΑΣ ς ﬀ ı İ ŉ'.casefold()", "ls|truncate(9)", "missing|truncate(3)", "ls|truncate(1, leeway=0)", "d|truncate(3, true, '')",
    "'yes' if ld|selectattr('zz') else 'no'", "ld|map(attribute='k')|join('-')", "messages|length", "messages[0].content|trim", "[i, *l]", "999999999999999 * 999999999999999",
]

TEMPLATES = [
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ x }},{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}:{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }}{% endfor %}",
    "{% for x in l %}{% set z %}a{% if x == 1 %}{% continue %}{% endif %}b{% endset %}{{ z }}{{ x }}{% endfor %}",
    "{% for x in l %}{% filter upper %}a{% if x == 1 %}{% break %}{% endif %}b{% endfilter %}{{ x }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}a{{ x }}{% if x == 1 %}{% break %}{% endif %}b{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ loop.nextitem }}|{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}",
    "{% set x = 1 %}{% for y in l %}{{ x }}{% set x = y %}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for y in l %}{{ ns.x }}{% set ns.x = y %}{% endfor %}{{ ns.x }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}",
    "{% set x %}hi {{ i }}{% set y = 1 %}{% endset %}{{ x|upper }}{{ y }}",
    "{% macro m(a, b='B') %}[{{ a }}|{{ b }}]{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}{{ m() }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{% if a > 0 %}{{ a }}{{ m(a - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(z) m() %}x{{ z }}{% endcall %}",
    "{% set y = 5 %}{% macro m() %}{{ y }}{% endmacro %}{% set y = 6 %}{{ m() }}",
    "{% filter indent(2) %}a\nb{% endfilter %}",
    "{%- generation -%} x {%- endgeneration -%}",
    "a {% generation %} x {% endgeneration %} b",
    "{% if zz is not defined %}{% set zz = 3 %}{% endif %}{{ zz }}",
    "{% for a in l %}{% for b in l %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in 'ab😀' %}{{ x }},{% endfor %}",
    "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{% for x in n %}{% endfor %}",
    "{% for x in missing %}{% else %}e{% endfor %}",
    "{% set x = ld|map(attribute='k') %}{{ x|list }}{{ x|list }}",
    "{% set _ = l.append(3) %}",
    "{%+ if t %}a{% endif %}",
    "  {%+ if t %}a{% endif +%}\nb",
    "{% raw %}\n{{ x }}{% if %}'\\{% endraw %}\nb",
    "x {%- raw -%} {{ x }} {%- endraw -%} b",
    "\r\na\r\nb\r\n",
    "{{ '{% if %}' }}{{ \"#}\" }}\n{{ {'a': {'b': '}}'}}['a']['b'] }}\n",
    "{% unknown %}",
    "{{ 1 +",
    "{% if t %}",
]

# Arguments, loops, macros and functions as Python and jinja2 check them.
TEMPLATES += [
    "{{ dict(a=1, a=2) }}",
    "{{ range(1, a=1) }}",
    "{{ 'x'.format(a=1, a=2) }}",
    "{{ l|join(d=',', d='x') }}",
    "{{ l is eq(other=1, other=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(a=1, a=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(a=1, **{'a':2}) }}",
    "{% if false %}{{ dict(a=1, a=2) }}{% endif %}",
    "{% set loop = 1 %}{{ loop }}",
    "{% for x in l %}{% set loop = 1 %}{{ loop }}{% endfor %}",
    "{% for x in l %}{{ loop.index }}{% set loop = 1 %}{{ loop }}{% endfor %}",
    "{% for loop in l %}{{ loop }}{% endfor %}",
    "{% for loop, y in [[1,2]] %}{{ loop }}{% endfor %}",
    "{% set loop = 5 %}{% for x in l %}{{ loop.index }}{% endfor %}{{ loop }}",
    "{% for x in l %}{% set y, loop = 1, 2 %}{{ loop }}{% endfor %}",
    "{% for x in l %}{% for y in l %}{% set loop = 1 %}{% endfor %}{% endfor %}",
    "{% for x in l %}{% if true %}{% set loop = 1 %}{% endif %}{% endfor %}",
    "{% for x in l %}{% set loop %}a{% endset %}{{ loop }}{% endfor %}",
    "{% for x in l %}{% macro loop() %}a{% endmacro %}{{ loop() }}{% endfor %}",
    "{% for x in l %}{% macro m(loop) %}{{ loop }}{% endmacro %}{{ m(3) }}{% endfor %}",
    "{% for x in l %}{% with loop = 3 %}{{ loop }}{% endwith %}{% endfor %}",
    "{% for x in l %}{% set q %}{% set loop = 3 %}{{ loop }}{% endset %}{{ q }}{% endfor %}",
    "{% for x in l %}{% filter upper %}{% set loop = 3 %}{{ loop }}{% endfilter %}{% endfor %}",
    "{% for x in l %}{% macro m() %}{{ loop.index }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% for x in l %}{% macro m() %}{% set loop = 4 %}{{ loop }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% for x in e %}{% else %}{% set loop = 1 %}{{ loop }}{% endfor %}",
    "{% for x in l if loop.index %}{{ x }}{% endfor %}",
    "{% for x in l if loop %}{{ x }}{% endfor %}",
    "{% for x in loop %}{{ x }}{% endfor %}",
    "{% for x in l %}{{ loop.foo }}{{ loop.foo is defined }}{% endfor %}",
    "{% for x in l %}{{ loop['index'] }}{{ loop['cycle']('a','b') }}{% endfor %}",
    "{% for x in l %}{{ loop.cycle() }}{% endfor %}",
    "{% for x in l %}{{ loop.cycle(a=1) }}{% endfor %}",
    "{% for x in l %}{{ loop.changed() }}{{ loop.changed(1) }}{{ loop.changed(a=2) }}{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.depth }}{{ loop.depth0 }}{% endfor %}",
    "{% for x in l %}{{ loop|attr('index') }}{% endfor %}",
    "{% for x in l recursive %}{{ x }}{{ loop(e) }}{{ loop.depth }}{% endfor %}",
    "{% for x in [[1,[2]],3] recursive %}{% if x is iterable %}<{{ loop(x) }}>{{ loop.depth }}{% else %}{{ x }}:{{ loop.depth0 }}{{ loop.index }}{% endif %}{% endfor %}",
    "{% for x in l %}{{ loop(l) }}{% endfor %}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.caller }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.explicit_caller }}",
    "{% macro m(a, b=2) %}{{ caller() }}{{ kwargs }}{{ varargs }}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.caller }}{{ m.catch_kwargs }}{{ m.catch_varargs }}",
    "{% macro m(a, caller) %}{{ caller }}{% endmacro %}{{ m.caller }}{{ m.explicit_caller }}{{ m(1, 2) }}",
    "{% macro m() %}{{ caller.name }}{{ caller.arguments }}{{ caller.caller }}{% endmacro %}{% call(x, y=1) m() %}q{% endcall %}",
    "{% macro m() %}x{% endmacro %}{{ m._func }}{{ m.foo }}{{ m['name'] }}{{ m|attr('name') }}",
    "{% macro m() %}x{% endmacro %}{{ m|tojson }}",
    "{% macro m() %}x{% endmacro %}{{ m is callable }}{{ m is defined }}{{ m is string }}{{ m == m }}{{ m is sameas m }}{{ m|default('x') is string }}",
    "{% macro m() %}x{% endmacro %}{{ m is iterable }}{{ m is mapping }}{{ m is sequence }}",
    "{% set j = joiner(', ') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}",
    "{% set j = joiner() %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}",
    "{% set j = joiner(sep='|') %}{{ j.sep }}{{ j.used }}{{ j() }}{{ j.used }}{{ j() }}",
    "{% set j = joiner(1) %}{{ j() }}{{ j() }}",
    "{% set c = cycler('a','b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.reset() }}{{ c.current }}{{ c.pos }}{{ c.items }}",
    "{% set c = cycler() %}",
    "{% set c = cycler(*l) %}{% for x in range(5) %}{{ c.next() }}{% endfor %}",
    "{% set c = cycler('a') %}{{ c is iterable }}{{ c is callable }}{{ c() }}",
    "{% set c = cycler('a','b') %}{% for x in c %}{{ x }}{% if loop.index > 4 %}{% break %}{% endif %}{% endfor %}",
    "{% set j = joiner(', ') %}{{ j is callable }}{{ j is iterable }}",
    "{{ dict.fromkeys(['a','b']) }}",
    "{{ dict.fromkeys(['a','b'], 1) }}",
    "{{ dict([['a',1]], b=2) }}{{ dict() }}{{ dict({'a':1}) }}",
    "{{ dict(1) }}",
    "{{ dict([1]) }}",
    "{{ dict('ab') }}",
    "{{ dict(['ab','cd']) }}",
    "{% set caller = 1 %}{{ caller }}",
    "{% macro m() %}{{ caller is defined }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1,2,a=3) }}",
    "{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1) }}",
    "{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1,2) }}",
    "{% macro m(kwargs) %}{{ kwargs }}{% endmacro %}{{ m(1) }}",
    "{% macro m(caller) %}{{ caller }}{% endmacro %}{{ m(1) }}",
    "{% macro m(caller) %}{{ caller() }}{% endmacro %}{% call m() %}a{% endcall %}",
    "{% macro m() %}{% set varargs = 1 %}{{ varargs }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{% set caller = 1 %}{{ caller }}{% endmacro %}{{ m() }}",
    "{% macro m(a, a) %}{{ a }}{% endmacro %}{{ m(1,2) }}",
    "{% macro m(a=b, b=1) %}{{ a }}{{ b }}{% endmacro %}{{ m() }}",
    "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro m(a=1, b) %}{{ a }}{{ b }}{% endmacro %}",
    "{% macro m(a,) %}{{ a }}{% endmacro %}{{ m(1) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m() }}{{ m() == '' }}",
    "{% macro m(a) %}{{ a is defined }}{% endmacro %}{{ m() }}{{ m(none) }}{{ m(x) }}",
    "{% macro m(a) %}{{ a + 1 }}{% endmacro %}{{ m() }}",
    "{% macro m(a=3) %}{{ a }}{% endmacro %}{{ m(x) }}{{ m(a=x) }}",
    "{% set ns = namespace(a=1) %}{{ ns.a }}{{ ns['a'] }}{{ ns.b is defined }}{{ ns }}{% set ns.b = 2 %}{{ ns.b }}",
    "{% set ns = namespace() %}{% set ns.a, ns.b = 1, 2 %}{{ ns.a }}{{ ns.b }}",
    "{% set ns = namespace() %}{% set ns.a %}x{% endset %}{{ ns.a }}",
    "{% set ns = namespace() %}{% set ns.a | upper %}x{% endset %}{{ ns.a }}",
    "{% set ns = namespace(a=1) %}{% for ns.a in l %}{{ ns.a }}{% endfor %}",
    "{% set ns = namespace(d) %}{{ ns.b }}{{ ns.items }}",
    "{% set ns = namespace([['a',1]]) %}{{ ns.a }}",
    "{% set ns = namespace(a=1) %}{{ ns is mapping }}{{ ns is iterable }}{{ ns is sequence }}{{ ns == ns }}{{ ns|default(1) == ns }}{{ ns is callable }}",
    "{% set ns = namespace(a=1) %}{{ ns|length }}",
    "{% set ns = namespace(a=1) %}{{ ns|list }}",
    "{% set ns = namespace(a=1) %}{{ ns|tojson }}",
    "{% set ns = namespace(a=1) %}{{ 'a' in ns }}",
    "{% set ns = namespace(self=1) %}{{ ns.self }}",
    "{% break %}",
    "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{% for x in l %}{% call m() %}{% break %}{% endcall %}{% endfor %}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% for x in l %}{% call m() %}{% break %}{% endcall %}{% endfor %}",
    "{% for x in l %}{% generation %}a{% break %}{% endgeneration %}{% endfor %}",
    "{% for x in l %}{% generation %}a{{ loop.index }}{% set i = x %}{{ i }}{% endgeneration %}{{ i }}{% endfor %}",
    "{% generation %}{{ caller is defined }}{% endgeneration %}",
    "{% generation %}{{ caller }}{% endgeneration %}",
    "{% for x in l %}a{% else %}{% break %}{% endfor %}",
    "{% for y in l %}{% for x in e %}a{% else %}{% break %}{% endfor %}{{ y }}{% endfor %}",
    "{% for x in l %}{% set zz = 1 %}{% endfor %}{{ zz }}",
    "{% for x in l %}{{ x }}{% endfor %}{{ x }}",
    "{{ d.get('b', default=1) }}",
    "{{ d.fromkeys('ab') }}",
    "{{ {}.fromkeys(['a'],1) }}",
    "{{ l.index(1, 2) }}",
    "{{ l.index(1, 0, 2) }}",
    "{{ (1,2).index(2, 1) }}",
    "{{ range(3).start }}{{ range(1, 5, 2).stop }}{{ range(3).step }}",
    "{{ ld|groupby('k')|map(attribute='list')|list }}",
    "{% for g in ld|groupby('k') %}{{ g.grouper }}{{ g.list }}{{ g[0] }};{% endfor %}",
    "{{ '%a' % ['é'] }}",
    "{% filter length %}abc{% endfilter %}",
    "{% filter first %}abc{% endfilter %}",
    "{% for a, b in [[1, 2], [3, 4]] if a %}{{ loop.nextitem }}{{ loop.previtem }}{% endfor %}",
    "{{ '{:-5}'.format('x') }}",
    "{{ '%(a)s %s' % {'a': 1} }}",
    "{{ '%5%|' % () }}",
    "{{ '%(a)*d' % {'a': 1} }}",
    "{{ '{:_x} {:_b} {:,}'.format(123456789, 300, 1234567.891) }}",
    "{{ '{:,x}'.format(1) }}",
    "{{ '{:010,}|{:011,}|{:012,}|{:013,.1f}|{:09_x}'.format(1234567, 1234567, -1234567, 1234567.25, 255) }}",
    "{{ n[1:] }}{{ n[1:] is defined }}{{ i[::2] }}",
    "{{ d[1:2] }}",
    "{{ 'ab'.startswith('', 3) }}{{ 'ab'.startswith('', 2) }}{{ 'ab'.endswith('', 3) }}{{ 'ab'.count('', 3) }}{{ 'ab'.count('', 2) }}{{ 'ab'.find('', 2, 1) }}{{ 'ab'.rfind('', 3) }}",
    "{{ 'ΑΣ Σ'.title() }}{{ 'ΑΣ'|capitalize }}{{ 'აბ ŉx ᾳω ᾷ ǆ'.title() }}{{ 'ა'|capitalize }}{{ 'ǅᾈ'.swapcase() }}{{ 'Ꭰꭰ'.casefold() }}",
    "{{ '一六'.isnumeric() }}{{ '⑴①'.isdigit() }}{{ 'ª'.islower() }}{{ 'ª'.isupper() }}{{ 'ª'.istitle() }}{{ 'ǅx'.istitle() }}{{ \"It'S A\".istitle() }}{{ 'AbC'.istitle() }}",
    "{% set x = l|map('string') %}{{ '1' in x }}{{ x|list }}",
    "{{ l in d.keys() }}",
    "{{ d.keys() in d }}",
    "{{ 'b' in d.keys() }}{{ d.values() in d.keys() }}",
]


def layouts(random, count):
    """Templates of blocks, comments and text with all kinds of white space."""
    text = [" ", "  ", "\n", "\t", "a", "b.", "\n\n", "-", "}", "{ ", "#"]
    written = ["{{ i }}", "{{- i }}", "{{ i -}}", "{{- 'x\n' -}}", "{# c #}", "{#- c #}", "{# c -#}", "{% set z = 1 %}", "{%- set z = 1 -%}", "{% set z = 2 -%}"]
    opened = ["{% if t %}", "{%- if t %}", "{% if t -%}", "{%- if n -%}", "{% for x in l %}", "{%- for x in l -%}", "{%+ if t +%}"]
    closed = ["{% %s %}", "{%- %s %}", "{% %s -%}", "{%- %s -%}"]
    for _ in range(count):
        parts, open_blocks = [], []
        for _ in range(random.randint(2, 14)):
            kind = random.random()
            if kind < 0.35:
                parts.append("".join(random.choices(text, k=random.randint(1, 4))))
            elif kind < 0.6:
                parts.append(random.choice(written))
            elif kind < 0.8 or not open_blocks:
                parts.append(random.choice(opened))
                open_blocks.append("endif" if " if" in parts[-1] else "endfor")
            else:
                parts.append(random.choice(closed).replace("%s", open_blocks.pop()))
        parts += [random.choice(closed).replace("%s", block) for block in reversed(open_blocks)]
        yield "".join(parts) + random.choice(["", "\n", "\n\n"])
