// Renders the cases of compare_templates.py with tokenlane, and lists every text or refusal that
// differs.
//
//   node tools/compare/chat/compare_templates.mjs CASES.json [--json DIFFERENCES.json]

import fs from 'node:fs'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../../../index.mjs'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const { now, templates, cases } = JSON.parse(fs.readFileSync(positionals[0], 'utf8'))

const RealDate = Date
class FixedDate extends RealDate {
  /** @param {[] | [number]} args */
  constructor(...args) {
    super(args.length === 0 ? now : args[0])
  }
}
globalThis.Date = /** @type {DateConstructor} */ (FixedDate)

const tokenizer = Tokenizer.fromFileSync(new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url))

function render({ template, messages, tools, documents, add_generation_prompt: addGenerationPrompt, variables }) {
  /** @type {import('../../../index.mjs').ChatOptions & { tokenize: false }} */
  const options = {
    chatTemplate: templates[template],
    tools,
    documents,
    addGenerationPrompt,
    variables,
    tokenize: false,
  }
  try {
    return { text: tokenizer.applyChatTemplate(messages, options) }
  } catch (failure) {
    return { error: `${failure.code}: ${failure.message}` }
  }
}

/** The part of a text around the first character that differs from another text. */
function around(text, other) {
  let at = 0
  while (at < text.length && text[at] === other[at]) at++
  return JSON.stringify(text.slice(Math.max(0, at - 30), at + 50))
}

const differences = []
for (const [at, one] of cases.entries()) {
  const found = render(one)
  if (found.text === one.text) continue
  const kind = found.text === undefined ? 'fails' : one.text === undefined ? 'renders' : 'differs'
  differences.push({
    at,
    template: one.template,
    kind,
    expected: one.text ?? one.error,
    found: found.text ?? found.error,
  })
}

const seen = new Map()
for (const { at, template, kind, expected, found } of differences) {
  const shown =
    kind === 'differs'
      ? `expected ${around(expected, found)}, found ${around(found, expected)}`
      : (kind === 'fails' ? found : expected).slice(0, 200)
  const key = `${template} ${kind}`
  if (!seen.has(key)) console.log(`${template} (case ${at}): ${kind}: ${shown}`)
  seen.set(key, (seen.get(key) ?? 0) + 1)
}
const count = (kind) => differences.filter((one) => one.kind === kind).length
const agreed = cases.length - differences.length
console.log(
  `${agreed} of ${cases.length} agree; ${count('differs')} texts differ, ${count('fails')} fail, ${count('renders')} render what transformers refuses`,
)
if (values.json) fs.writeFileSync(values.json, JSON.stringify(differences, null, 1))
process.exitCode = differences.length === 0 ? 0 : 1
