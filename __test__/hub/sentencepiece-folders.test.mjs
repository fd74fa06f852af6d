// A folder with a SentencePiece model, and without a tokenizer.json, is what AutoTokenizer of
// transformers makes of it: tools/compare/model-folders/compare.py --record recorded the cases,
// whose models sentencepiece trained.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import zlib from 'node:zlib'

import { Tokenizer } from '../../index.mjs'
import { assertRecorded, folderWriter, idsOf } from '../support/folders.mjs'

const data = fs.readFileSync(new URL('../testdata/sentencepiece-folders.json.gz', import.meta.url))
const recorded = JSON.parse(zlib.gunzipSync(data).toString())
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-pieces-'))
after(() => fs.rmSync(root, { recursive: true, force: true }))

/** The models, which files name by their numbers. */
const models = recorded.models.map((base64) => Buffer.from(base64, 'base64'))

const folder = folderWriter(root)
const folderOf = (files) =>
  folder(
    Object.fromEntries(
      Object.entries(files).map(([name, content]) => [name, typeof content === 'number' ? models[content] : content]),
    ),
  )

test('the recorded folders have every class that is built from a SentencePiece model', () => {
  const names = new Set(recorded.cases.map((one) => one.class))
  const families = [
    'Albert',
    'BigBird',
    'Pegasus',
    'Reformer',
    'T5',
    'XLNet',
    'Barthez',
    'Camembert',
    'MBart',
    'MBart50',
  ]
  for (const family of [
    ...families,
    'Nllb',
    'XLMRoberta',
    'RemBert',
    'DebertaV2',
    'CodeLlama',
    'Gemma',
    'Llama',
    'XGLM',
  ])
    assert.ok(names.has(`${family}Tokenizer`), family)
})

for (const [index, recording] of recorded.cases.entries()) {
  test(`a folder equals transformers ${recorded.transformers}: ${recording.class}, ${index}`, async () => {
    const place = folderOf(recording.files)
    for (const tokenizer of [await Tokenizer.fromFile(place), Tokenizer.fromFileSync(place)]) {
      assert.deepEqual(tokenizer.source, {
        from: place,
        class: recording.class,
        ...(tokenizer.source.splitsSpecialTokens && { splitsSpecialTokens: true }),
      })
      assertRecorded(tokenizer, recording)
    }
  })
}

test('such a folder can be saved, changed and loaded again', () => {
  const { files, texts, ids } = recorded.cases.find((one) => one.class === 'T5Tokenizer')
  const tokenizer = Tokenizer.fromFileSync(folderOf(files))
  assert.deepEqual(idsOf(Tokenizer.fromBufferSync(tokenizer.toBuffer()), texts), ids)
})

test('with { configs: false }, and for bytes that are no model, the file is read as it is', () => {
  const { files } = recorded.cases.find((one) => one.class === 'T5Tokenizer')
  const alone = Tokenizer.fromFileSync(folderOf(files), { configs: false })
  assert.throws(() => alone.toBuffer(), { code: 'ERR_TOKENLANE_SAVE' })
  for (const bytes of ['', 'no model', models[files['spiece.model']].subarray(0, 999)]) {
    const broken = folderOf({ ...files, 'spiece.model': bytes })
    assert.throws(() => Tokenizer.fromFileSync(broken), { code: /^ERR_TOKENLANE_/ })
  }
})
