#!/usr/bin/env node
// Judges `content: 'text'` of applyChatTemplate with every chat template of a folder: contents that
// spell out the control tokens of a template must not make any.
//
//   usage: npm run maintain -- hostile-contents FOLDER [--tokenizer tokenizer.json]
//
// FOLDER has `*.jinja` files of others. Each template gets a tokenizer in which all control tokens
// that its text names are special tokens. Tokens on which a template itself branches, such as
// `</think>` in `'</think>' in content`, may change what it writes; they are listed apart.

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { Tokenizer } from '../../index.mjs'
import { judge, tokensIn } from '../../__test__/support/hostile-contents.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { tokenizer: { type: 'string' } } })
const [folder] = positionals
if (folder === undefined) throw new Error('usage: npm run maintain -- hostile-contents FOLDER')
const file = values.tokenizer ?? new URL('../../__test__/testdata/chat/tokenizer.json', import.meta.url)
const base = Tokenizer.fromFileSync(file)
const SPECIAL = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' }

/** Whether a template looks for a token in a content. */
const reads = (template, token) => ["'", '"'].some((quote) => template.includes(`${quote}${token}${quote}`))

const totals = { templates: 0, compared: 0, wrong: 0, read: 0 }
for (const name of fs.readdirSync(folder).sort()) {
  const template = fs.readFileSync(path.join(folder, name), 'utf8')
  const tokens = [...new Set([...tokensIn(template), ...Object.values(SPECIAL)])]
  const known = new Set(base.toJSON().added_tokens.map(({ content }) => content))
  const added = tokens.filter((content) => !known.has(content)).map((content) => ({ content, special: true }))
  const tokenizer = Tokenizer.fromBufferSync(base.with({ addedTokens: added }).toBuffer(), { config: SPECIAL })
  const { compared, wrong } = judge(tokenizer, template, tokens)
  if (compared > 0) totals.templates++
  totals.compared += compared
  for (const one of wrong) {
    if (one.token !== undefined && reads(template, one.token)) totals.read++
    else {
      totals.wrong++
      console.log(name, JSON.stringify(one))
    }
  }
}
console.log(JSON.stringify(totals))
process.exitCode = totals.wrong > 0 ? 1 : 0
