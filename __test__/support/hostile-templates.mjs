// Hostile chat templates by kind of cost, and a function that renders them in child processes.

import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('hostile-template-child.mjs', import.meta.url))
const CODES = ['ERR_TOKENLANE_CHAT_LIMIT', 'ERR_TOKENLANE_CHAT_TEMPLATE']
const MAX_MIB = 1024

const loops = (body) => `{% for a in range(100000) %}{% for b in range(1000) %}${body}{% endfor %}{% endfor %}`
const often = (text, body) => `{% set s = ${text} %}{% for a in range(100000) %}{% set x = ${body} %}{% endfor %}`
const doubled = (step, use) =>
  `{% set a = namespace(x=1) %}{% set b = namespace(x=1) %}{% for i in range(60) %}${step}{% endfor %}${use}`
const nested = (open, close) => `{{ ${open.repeat(10_000)}1${close.repeat(10_000)} }}`
const each = (count, write) => Array.from({ length: count }, (_, i) => write(i)).join('')
const names = (count, end = ',') => each(count, (i) => `a${i}${end}`)
const scopes = (body) =>
  each(96, () => '{% with %}{% if 0 %}{% set q = 1 %}{% endif %}') + body + '{% endwith %}'.repeat(96)
const LISTS = '{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}'

/** Templates that once exhausted a process. */
export const FOUND = [
  '{{ [1]|batch(1000000000000, "x")|list }}',
  "{% set s = 'ab' * 1000000 %}{{ ([s] * 100000)|map('upper')|list|length }}",
  "{{ (' x' * 75000000)|title|length }}",
  doubled(LISTS, '{{ a.x == b.x }}'),
  doubled(LISTS, '{{ a.x }}'),
  doubled(LISTS, '{{ a.x|tojson }}'),
  doubled('{% set a.x = namespace(p=a.x, q=a.x) %}', '{{ a }}'),
  '{{ range(100000)|unique|list|length }}',
  "{{ range(100000)|select('in', range(100000))|list|length }}",
  "{% set l = range(100000)|list %}{{ l|select('in', l)|list|length }}",
  '{{ [0] * 200000000 }}',
  '{{ [] * 4000000000 }}',
  "{{ '%s' * 50000000 % 1 }}",
  "{{ ('9' * 20000000)|int|string }}",
  "{{ strftime_now('%c' * 20000000) }}",
  // What the source has many of, and a loop evaluates again and again
  loops(`{% if 0 %}${'{% elif 0 %}'.repeat(40_000)}{% endif %}`),
  loops(`{% if ${'1 and '.repeat(190)}0 %}{% endif %}`.repeat(400)),
  loops('{% if not not not not not 0 %}{% endif %}'.repeat(9000)),
  loops(`{% if ${'undefined or '.repeat(190)}0 %}{% endif %}`.repeat(150)),
  loops(`{% filter trim(${'1 and '.repeat(190)}none) %}{% endfilter %}`.repeat(300)),
  `{% macro m() %}{% endmacro %}${loops(`{% call m(${'1 and '.repeat(190)}0) %}{% endcall %}`.repeat(300))}`,
  loops(`{% if 0 %}${each(30_000, (i) => `{%set a${i}=1%}`)}{% endif %}`),
  `{% set n = namespace(x=1) %}{% for a in range(100000) %}{% if 0 %}${each(25_000, (i) => `{%set a${i}=1%}`)}{% endif %}{% macro m() %}{% endmacro %}{% set n.x = [n.x, m] %}{% endfor %}`,
  loops(`{% with ${names(30_000, '=1,')}b=1 %}{% endwith %}`),
  loops(`{% set x = loop.cycle(1, ${names(40_000, '=1,')}b=1) %}`),
  `{% macro m(${names(20_000)}b) %}{% endmacro %}${loops(`{{ m(${names(20_000, '=1,')}b=1) }}`)}`,
  `{% set t = [[1] * 40000] * 1000 %}{% for a in range(9999) %}{% for ${names(40_000)} in t %}{% endfor %}{% endfor %}`,
  `{% macro m() %}{{ varargs|length }}{% endmacro %}${loops(`{{ m(${'1,'.repeat(200_000)}) }}`)}`,
  scopes(loops('{% if q %}{% endif %}'.repeat(20))),
  scopes('{{q}}'.repeat(90_000)),
  loops("{% set x = ('٣' * 4300)|int %}"),
  loops("{% set x = ('z' * 4300)|int(0, 36) %}"),
  "{{ ([{'a': 1}] * 1000)|sort(attribute=',' * 1000000)|length }}",
  "{{ range(99999)|sort(attribute='a,' * 9999)|length }}",
  `{{ 1${' '.repeat(100_000)}}}`,
  `{{${'\n'.repeat(100_000)}1 }}`,
]

/** More of each class. */
export const MORE = [
  // A single call with a large result
  "{{ 'x' * 10 ** 12 }}",
  "{{ 'x'.ljust(10 ** 12) }}",
  "{{ 'x'.zfill(10 ** 9) }}",
  "{{ 'x'|center(10 ** 9) }}",
  "{{ 'x'|indent(10 ** 9) }}",
  "{{ '\\ta'.expandtabs(10 ** 9) }}",
  "{{ '%999999999d' % 1 }}",
  "{{ '%*d' % (10 ** 9, 1) }}",
  "{{ '%.999999999f' % 1.5 }}",
  "{{ '{:999999999}'.format(1) }}",
  "{{ '{:{}}'.format(1, 10 ** 9) }}",
  "{{ ('{0}' * 1000000).format('a' * 1000000) }}",
  '{{ [1]|tojson(indent=10 ** 9) }}',
  "{{ [[1]] * 1000 |tojson(indent='x' * 1000000) }}",
  "{{ ('a' * 1000000).replace('a', 'b' * 1000) }}",
  "{{ 'a'.replace('', 'b' * 100000000) }}",
  "{{ ('ab' * 1000000).join('c' * 1000000) }}",
  "{{ ('\\x00' * 10000000)|tojson }}",
  "{{ ('<' * 10000000)|e }}",
  "{{ [('\\x00' * 10000000)] }}",
  "{{ (' ' * 10000000)|urlencode }}",
  '{{ range(100000)|batch(1)|list }}',
  '{{ range(100000)|slice(10 ** 12)|list }}',
  "{{ dict(range(100000)|map('string')|batch(2)) }}",
  "{% set s %}{% for i in range(100000) %}{{ 'x' * 10000 }}{% endfor %}{% endset %}",
  // Growth by doubling or repetition
  "{% set n = namespace(s='ab') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
  "{% set n = namespace(s='ab'|safe) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
  '{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}',
  '{% set n = namespace(s=(1,)) %}{% for i in range(99) %}{% set n.s = n.s * 9 %}{% endfor %}',
  '{% set n = namespace(s=9) %}{% for i in range(99) %}{% set n.s = n.s * n.s %}{% endfor %}',
  "{% set n = namespace(s='') %}{% for i in range(100000) %}{% set n.s = n.s ~ 'abc' %}{% endfor %}",
  '{% set n = namespace(s=[]) %}{% for i in range(100000) %}{% set n.s = n.s + [i] %}{% endfor %}',
  doubled('{% set a.x = (a.x, a.x) %}', '{{ {a.x: 1} }}'),
  doubled("{% set a.x = {'a': a.x, 'b': a.x} %}", '{{ a.x|string }}'),
  doubled("{% set a.x = {'a': a.x, 'b': a.x} %}{% set b.x = {'a': b.x, 'b': b.x} %}", '{{ a.x == b.x }}'),
  doubled(LISTS, '{{ a.x < b.x }}'),
  doubled(LISTS, '{{ [a.x]|sort|list == [b.x] }}{{ [b.x, a.x]|unique|list }}'),
  doubled(LISTS, '{{ a.x in [b.x] }}'),
  doubled(LISTS, '{{ twice(a.x) }}'),
  '{% set a = namespace(x=1) %}{% set a.x = a %}{{ a }}{{ a == a }}{{ [a] < [a] }}',
  '{% set a = namespace(x=1) %}{% for i in range(100000) %}{% set a.x = [a.x] %}{% endfor %}{{ a.x }}',
  '{% set a = namespace(x=1) %}{% for i in range(100000) %}{% set a.x = [a.x] %}{% endfor %}{{ a.x == [a.x] }}',
  // Loops
  '{% for a in range(9999999) %}{% endfor %}',
  loops(''),
  loops('{{ a }}'),
  loops("{{ '' }}"),
  loops('{% set x = a ~ b %}'),
  loops("{% set x = 'abc'.upper() %}"),
  loops('{% set x = 9 ** 1000 %}'),
  loops('{% set x = (9 ** 4000)|string %}'),
  loops('{% set x = 9 ** 2000 * 9 ** 2000 // 9 ** 1999 %}'),
  loops("{% set x = '%.300f' % 1.5 %}"),
  loops('{{ loop.cycle(1, 2) }}{{ loop.changed(a) }}'),
  loops('{% set x %}{% endset %}'),
  loops('{% macro m() %}{% endmacro %}{{ m() }}'),
  loops('{% if a == b and b in [a] or not a %}{% endif %}'),
  loops("{% set x = {'a': 1, 'b': [1, 2]} %}"),
  loops("{% set x = [1, 2]|map('string')|join %}"),
  loops('{% set x = namespace(a=1) %}'),
  loops("{% set x = strftime_now('%c') %}"),
  loops("{% set x = 'a b'.split() %}"),
  loops("{% set x = {'a': 1}|tojson %}"),
  loops('{% set x = twice(1) %}'),
  "{% macro m() %}{{ 'a' * 10000000 }}{% endmacro %}{% for a in range(100000) %}{{ m() }}{% endfor %}",
  // Repeated reads of long values
  often("'a' * 10000000", "'b' in s"),
  often("'a' * 1000000", "('a' * 10000 ~ 'b') in s"),
  often("'a' * 1000000", "('b' ~ 'a' * 100000) in s"),
  often("'a' * 1000000", "s.rfind('b' ~ 'a' * 100000)"),
  often("'a' * 1000000", "s.count('a' * 1000)"),
  often("'a' * 1000000", "s.rsplit('aa' * 1000)"),
  often("' ' * 10000000", 's|trim'),
  often("'x' * 10000000", "s.strip('xyz')"),
  often("'a' * 10000000", 's == "a" * 10000000'),
  often("'a' * 10000000", 's < s ~ "b"'),
  often("'a' * 10000000", '{s: 1}'),
  often("'a' * 10000000", 's.isalpha()'),
  often("'a' * 10000000", 's.startswith(s)'),
  often("'é😀' * 1000000", 's[5] ~ s|length'),
  often("'é😀' * 1000000", 's[-5:]'),
  often("'a b' * 1000000", 's[::-1]'),
  often("'a b' * 1000000", 's.split()'),
  often("'a\\n' * 1000000", 's.splitlines()'),
  often("'a b' * 1000000", 's|title'),
  often("'a b' * 1000000", 's.swapcase()'),
  often("'a b' * 1000000", 's|wordcount'),
  often("'a\"' * 1000000", 's|tojson'),
  often('[1] * 1000000', 's|sort'),
  often('[1] * 1000000', 's|sum'),
  often('[1] * 1000000', 's|join'),
  often('[1] * 1000000', 's[1:]'),
  often('[1] * 1000000', 's.count(1)'),
  often('[1] * 1000000', 's == [1] * 1000000'),
  often('[1] * 1000000', "s|map('string')|list"),
  often('[1] * 1000000', "s|select('eq', 1)|first"),
  often('[1] * 1000000', 's|reverse'),
  often("[{'k': 1}] * 1000000", "s|groupby('k')"),
  often("[{'k': 1}] * 1000000", "s|map(attribute='k')|max"),
  // Depth, in the source and at run time
  nested('(', ')'),
  nested('[', ']'),
  nested('not ', ''),
  nested('-', ''),
  nested("{'a': ", '}'),
  nested('f(', ')'),
  nested('1 + (', ')'),
  nested('a[', ']'),
  nested('1 if 1 else ', ''),
  nested('1 is eq(', ')'),
  nested("'x'|default(", ')'),
  `{{ 1${' + 1'.repeat(50_000)} }}`,
  `{{ a${'.b'.repeat(50_000)} }}`,
  `{{ a${'|e'.repeat(50_000)} }}`,
  `{{ 1${' ~ 1'.repeat(50_000)} }}`,
  `{{ 1${' < 2'.repeat(50_000)} }}`,
  `{{ 1${' and 1'.repeat(50_000)} }}`,
  `${'{% if 1 %}'.repeat(10_000)}${'{% endif %}'.repeat(10_000)}`,
  `${'{% for a in [1] %}'.repeat(10_000)}${'{% endfor %}'.repeat(10_000)}`,
  `{% if 0 %}${'{% elif 0 %}'.repeat(30_000)}{% endif %}`,
  '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  '{% macro m(x) %}{{ [[[[[[[[m(x)]]]]]]]] }}{% endmacro %}{{ m(1) }}',
  '{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}',
  '{% for i in range(5) recursive %}{{ loop(range(5)) }}{% endfor %}',
  // The source: many tokens of each kind
  `{{ ${'a'.repeat(500_000)} }}`,
  `{{ ${'1'.repeat(500_000)} }}`,
  `{{ 1${'_1'.repeat(250_000)} }}`,
  `{{ '${'\\x41'.repeat(100_000)}' }}`,
  `{{ '${'a'.repeat(500_000)}`,
  `{{ [${'1,'.repeat(200_000)}] }}`,
  `{{ [${"'a' ".repeat(100_000)}] }}`,
  '{{1}}'.repeat(100_000),
  '{% set a = 1 %}'.repeat(30_000),
  '{#'.repeat(250_000),
  '{# #}'.repeat(100_000),
  '{%'.repeat(250_000),
  '{'.repeat(500_000),
  '\n \n'.repeat(150_000),
  ' {%- set a = 1 -%} '.repeat(20_000),
  `{% raw %}${'{% '.repeat(150_000)}`,
  `{% raw %}${'{%           '.repeat(40_000)}{% endraw %}`,
  'a'.repeat(1_000_000),
]

/** Renders the template of a file in a process with limits. Resolves to how it ended. */
function rendered(file, messages, cpuSeconds) {
  const node = [`--max-old-space-size=${MAX_MIB}`, CHILD, file, String(messages)]
  const limited = ['sh', '-c', `ulimit -t ${cpuSeconds}; exec "$0" "$@"`, process.execPath, ...node]
  const [command, ...args] = process.platform === 'win32' ? [process.execPath, ...node] : limited
  return new Promise((resolve) => {
    execFile(command, args, (failure, stdout, stderr) => {
      resolve(
        failure === null ? JSON.parse(stdout) : { died: `${failure.signal ?? failure.code}: ${stderr.slice(-300)}` },
      )
    })
  })
}

const isFine = ({ died, mib, code }) =>
  died === undefined && mib <= MAX_MIB && (code === undefined || CODES.includes(code))

/**
 * The templates that do not end with a result or an error with a code within the limits. They run
 * one after the other: processes that share a core take more CPU time.
 */
export async function wrongAmong(templates, messages, cpuSeconds) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-templates-'))
  const file = path.join(folder, 'template.jinja')
  const wrong = []
  for (const template of templates) {
    fs.writeFileSync(file, template)
    const outcome = await rendered(file, messages, cpuSeconds)
    if (!isFine(outcome)) wrong.push([template.slice(0, 200), outcome])
  }
  fs.rmSync(folder, { recursive: true })
  return wrong
}
