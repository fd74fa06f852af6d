// Writes docs/api/chat-templates.md, what chat templates cannot use: all that jinja2 has
// a name for (testdata/chat/jinja.json, from tools/data/record.py) and that tokenlane refuses.
//
//   node tools/compare/chat/refused.mjs

import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../../index.mjs'

const DATA = new URL('../../../__test__/testdata/chat/', import.meta.url)
export const PAGE = new URL('../../../docs/api/chat-templates.md', import.meta.url)

const KINDS = {
  "'x'": 'of strings',
  "('x'|safe)": 'of Markup',
  1: 'of integers',
  1.5: 'of floats',
  '{}.keys()': 'of views',
}
/** Refusals without a name in jinja2. */
const OTHERS = {
  '`autoescape` with another value than `false`': '{% autoescape true %}{% endautoescape %}',
  '`\\N{…}` in strings': "{{ '\\N{BULLET}' }}",
  '`self` and `super`': '{{ self }}{{ super }}',
  'operators of sets': '{{ {}.keys() - [] }}',
  'printing functions (other than macros) and generators': '{{ range }}',
  'assigning an element of a mapping with a `set` block': "{% set d = {'a': 1} %}{% set d.a %}{% endset %}",
  'integers of more than 16,384 bits': '{{ 2 ** 20000 }}',
}

const tokenizer = Tokenizer.fromFileSync(new URL('tokenizer.json', DATA))

/** The message with which a template is refused, or an empty string. */
function refusal(chatTemplate) {
  try {
    tokenizer.applyChatTemplate([{ role: 'user', content: '' }], { chatTemplate, tokenize: false })
    return ''
  } catch ({ message }) {
    return message
  }
}

const isUnsupported = (template) => /not supported/.test(refusal(template))
const list = (names) => names.map((name) => `\`${name}\``).join(', ')

/** The page with the list. */
export function refusedPage() {
  const { statements, filters, tests, functions, attributes } = JSON.parse(
    fs.readFileSync(new URL('jinja.json', DATA), 'utf8'),
  )
  const rows = [
    ['statements', list(statements.filter((name) => isUnsupported(`{% ${name} %}`)))],
    ['filters', list(filters.filter((name) => isUnsupported(`{{ 1|${name} }}`)))],
    ['tests', list(tests.filter((name) => /^\w+$/.test(name) && isUnsupported(`{{ 1 is ${name} }}`)))],
    ['functions', list(functions.filter((name) => isUnsupported(`{{ ${name}() }}`)))],
  ]
  for (const [value, names] of Object.entries(attributes)) {
    const refused = names.filter((name) => isUnsupported(`{{ (${value}).${name} is defined }}`))
    if (refused.length > 0) rows.push([`attributes ${KINDS[value]}`, list(refused)])
  }
  const others = Object.entries(OTHERS).map(([what, template]) => {
    if (refusal(template) === '') throw new Error(`${what} is not refused`)
    return what
  })
  rows.push(['others', others.join('; ')])
  const head = ['# What chat templates cannot use', '', '| kind | refused |', '|---|---|']
  return [...head, ...rows.map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) fs.writeFileSync(PAGE, refusedPage())
