// Reads the tests of smg's tool and reasoning parsers (Apache-2.0) and compares what they assert.
//
//   node tools/compare/completions/smg_cases.mjs SMG [--write FILE]
//
// SMG is a checkout of lightseekorg/smg, which is not part of this repository. A case is a text and
// the assertions after it: the calls in order, values of arguments, the text, the reasoning. Prints
// those that differ; with --write, the others become test data.

import fs from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'

import { parseCompletion } from '@tokenlane/completions'

const { positionals, values } = parseArgs({ allowPositionals: true, options: { write: { type: 'string' } } })
const FORMATS = {
  Qwen: 'hermes',
  QwenXml: 'qwen3-coder',
  QwenCoder: 'qwen3-coder',
  Mistral: 'mistral',
  Llama: 'llama3',
  Pythonic: 'pythonic',
  DeepSeek: 'deepseek-v3',
  DeepSeek31: 'deepseek-v3.1',
  DeepSeek32: 'deepseek-v3.2',
  KimiK2: 'kimi-k2',
  Glm4Moe: 'glm-4.5',
  MinimaxM2: 'minimax-m2',
  Cohere: 'command-a',
  Step3: 'step3',
  Json: 'plain',
  Qwen3: 'hermes',
  QwenThinking: 'hermes',
  DeepSeekR1: 'deepseek-v3',
  Glm45: 'glm-4.5',
  Kimi: 'kimi-k2',
  MiniMax: 'minimax-m2',
  CohereCmd: 'command-a',
}
const STARTS = new Set(['QwenThinking', 'DeepSeekR1', 'MiniMax', 'Step3 reasoning'])

/** A string literal of Rust. */
const LITERAL = String.raw`r#"([^]*?)"#|r"([^"]*)"|"((?:[^"\\]|\\[^])*)"`
const valueOf = ([raw, plain, quoted]) =>
  raw ??
  plain ??
  JSON.parse(
    `"${quoted
      .replace(/\\\n\s*/g, '')
      .replace(/\\u\{([^}]*)\}/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
      .replace(/\\'/g, "'")
      .replace(/[\n\t]/g, (one) => JSON.stringify(one).slice(1, -1))}"`,
  )

function* testsOf(file) {
  const source = fs.readFileSync(file, 'utf8')
  for (const [, name, body] of source.matchAll(/fn (test_\w+)\(\) \{\n([^]*?)\n {0,4}\}\n/g)) yield [name, body]
}

/** The texts that a test parses, each with the lines up to the next one. */
function* casesOf(body) {
  const parser = /(\w+)Parser::new\(/.exec(body)?.[1]
  const pattern = String.raw`(?:parse_complete|detect_and_parse_reasoning)\(\s*(?:(\w+)|${LITERAL})`
  const calls = [...body.matchAll(new RegExp(pattern, 'g'))]
  for (const [i, call] of calls.entries()) {
    let literal = call.slice(2)
    if (call[1] !== undefined) {
      const named = [...body.slice(0, call.index).matchAll(new RegExp(`let ${call[1]} = (?:${LITERAL});`, 'g'))].at(-1)
      if (named === undefined) continue
      literal = named.slice(1)
    }
    yield [parser, valueOf(literal), body.slice(call.index, calls[i + 1]?.index)]
  }
}

/** What the lines assert. */
function assertedBy(lines) {
  const expected = { values: [] }
  const texts = (pattern) => [...lines.matchAll(new RegExp(pattern.replace('LITERAL', LITERAL), 'g'))]
  const count = /assert_eq!\(tools\.len\(\), (\d+)/.exec(lines)?.[1]
  if (count !== undefined) expected.count = Number(count)
  for (const [, index, ...literal] of texts(String.raw`assert_eq!\(tools\[(\d+)\]\.function\.name, (?:LITERAL)`))
    (expected.names ??= {})[index] = valueOf(literal)
  for (const [, key, ...literal] of texts(String.raw`assert_eq!\(args\["(\w+)"\], (?:LITERAL)\)`))
    expected.values.push([key, valueOf(literal)])
  for (const [, key, value] of texts(String.raw`assert_eq!\(args\["(\w+)"\], (-?[\d.]+|true|false)\)`))
    expected.values.push([key, JSON.parse(value)])
  for (const [field, name] of [
    ['content', 'normal_text'],
    ['reasoning', 'reasoning_text'],
  ])
    for (const [, ...literal] of texts(String.raw`assert_eq!\(\s*(?:result\w*\.)?${name}, (?:LITERAL)`))
      expected[field] ??= valueOf(literal)
  return expected
}

const trimmed = (text) => (text ?? '').trim()

/** Whether an answer has what is asserted. Arguments are asserted of one call at a time. */
function isSame({ message }, expected) {
  const calls = message.tool_calls ?? []
  const parsed = calls.map(({ function: call }) => JSON.parse(call.arguments))
  return (
    (expected.count === undefined || calls.length === expected.count) &&
    Object.entries(expected.names ?? {}).every(([index, name]) => calls[index]?.function.name === name) &&
    expected.values.every(([key, value]) => parsed.some((one) => isDeepStrictEqual(one[key], value))) &&
    (expected.content === undefined || trimmed(message.content) === trimmed(expected.content)) &&
    (expected.reasoning === undefined || trimmed(message.reasoning_content) === trimmed(expected.reasoning))
  )
}

const folders = ['crates/tool_parser/tests', 'crates/reasoning_parser/src/parsers'].map((name) =>
  path.join(positionals[0], name),
)
const cases = []
let differ = 0
for (const folder of folders)
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.rs')))
    for (const [name, body] of testsOf(path.join(folder, file)))
      for (const [parser, text, lines] of casesOf(body)) {
        const format = FORMATS[parser]
        const expected = assertedBy(lines)
        if (format === undefined || Object.values(expected).every((one) => one.length === 0)) continue
        const starts = STARTS.has(parser) || (parser === 'Step3' && folder.includes('reasoning'))
        /** @type {import('@tokenlane/completions').CompletionOptions} */
        const options = folder.includes('reasoning') ? (starts ? { startsIn: 'reasoning' } : {}) : { startsIn: 'text' }
        let read
        let same = false
        try {
          read = parseCompletion(undefined, text, { format, ...options })
          same = isSame(read, expected)
        } catch (failure) {
          read = failure.message
        }
        if (same) cases.push([`${file}::${name}`, format, text, options, expected])
        else {
          differ++
          console.log(
            `${file}::${name} (${format})\n  ${JSON.stringify(text)}\n  asserts ${JSON.stringify(expected)}\n  read    ${JSON.stringify(read.message ?? read)}`,
          )
        }
      }
console.log(`${cases.length + differ} cases, ${differ} differ`)
if (values.write !== undefined) {
  const head = {
    source: 'smg (lightseekorg/smg), crates/tool_parser and crates/reasoning_parser',
    licence: 'Apache-2.0',
  }
  const lines = cases.map((one) => JSON.stringify(one)).join(',\n')
  fs.writeFileSync(values.write, `${JSON.stringify(head).slice(0, -1)}, "cases": [\n${lines}\n]}\n`)
}
