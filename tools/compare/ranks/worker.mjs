#!/usr/bin/env node
// The package's side of compare.py: for each rank file its tokens and the ids of texts, or null if
// it is refused.

import { Buffer } from 'node:buffer'
import { createInterface } from 'node:readline'

import { Tokenizer } from '../../../index.mjs'

const [pattern] = process.argv.slice(2)

function answer({ path, texts }) {
  let tokenizer
  try {
    tokenizer = Tokenizer.fromFileSync(path, { pattern })
  } catch (error) {
    if (!/^ERR_TOKENLANE_(?!PANIC)/.test(error.code)) throw error
    return null
  }
  // The ids of the generator: small ones, and those of nine digits.
  const ids = [...Array(700).keys(), 111_111_111, 1_111_111_111]
  const tokens = ids.map((id) => [id, hexOf(tokenizer, id)]).filter(([, hex]) => hex !== undefined)
  return { tokens, ids: texts.map((text) => idsOf(tokenizer, text)) }
}

function hexOf(tokenizer, id) {
  try {
    return Buffer.from(tokenizer.decodeBytes([id])).toString('hex')
  } catch {
    return undefined
  }
}

function idsOf(tokenizer, text) {
  try {
    return [...tokenizer.encode(text).ids]
  } catch {
    return null
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`)
}
