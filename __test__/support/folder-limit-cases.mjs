// Folders of models that could exhaust memory or take quadratic time; as in file-limit-cases.mjs.

import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const LARGE = 'ERR_TOKENLANE_TOO_LARGE'

/** Loads the folder of a model with these files. */
const loadsFolder = (files) => (Tokenizer) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-folder-'))
  try {
    for (const [name, content] of Object.entries(files())) fs.writeFileSync(path.join(folder, name), content)
    return Tokenizer.fromFileSync(folder).vocabSize()
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}
const BERT = '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n'
const GPT2 = { 'vocab.json': '{"<|endoftext|>":0,"a":1,"b":2,"ab":3}', 'merges.txt': 'a b\n' }
/** Lines that are all different. */
const differentLines = (bytes) => {
  const lines = []
  for (let at = 0, length = 0; length < bytes; at++) length += lines[lines.push(at.toString(36)) - 1].length + 1
  return lines.join('\n')
}

export const FOLDER_CASES = {
  'a line of spaces in vocab.txt': {
    run: loadsFolder(() => ({ 'vocab.txt': `${BERT}${' '.repeat(1 << 20)}x\n` })),
    code: undefined,
  },
  'a vocab.txt of 33 MiB of empty lines': {
    run: loadsFolder(() => ({ 'vocab.txt': Buffer.alloc(33 << 20, '\n') })),
    code: 'ERR_TOKENLANE_FILE_TOO_LARGE',
  },
  'a vocab.txt of empty lines': {
    run: loadsFolder(() => ({ 'vocab.txt': `${BERT}${'\n'.repeat(8 << 20)}` })),
    code: undefined,
  },
  'a vocab.txt of 300,000 tokens': {
    run: loadsFolder(() => ({ 'vocab.txt': `${BERT}${differentLines(3 << 19)}` })),
    code: undefined,
  },
  'a merges.txt that repeats one merge a million times': {
    run: loadsFolder(() => ({ ...GPT2, 'merges.txt': 'a b\n'.repeat(1 << 20) })),
    code: undefined,
  },
  'configs of nested lists': {
    run: loadsFolder(() => ({
      ...GPT2,
      'config.json': `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
      'tokenizer_config.json': `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
    })),
    code: undefined,
  },
  'a config of five million bytes': {
    run: loadsFolder(() => ({ ...GPT2, 'tokenizer_config.json': `{}${' '.repeat(5e6)}` })),
    code: 'ERR_TOKENLANE_FILE_TOO_LARGE',
  },
  '300,000 special tokens of a config': {
    run: loadsFolder(() => {
      const extra_special_tokens = Array.from({ length: 300_000 }, (_, at) => `t${at}`)
      return { ...GPT2, 'tokenizer_config.json': JSON.stringify({ extra_special_tokens }) }
    }),
    code: LARGE,
  },
}
