// `train` of the drop-in of tokenizers: the default trainer of the model, on the calling thread.
// The vocabularies are those of the npm package tokenizers 0.23.2.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import tokenizers from '../index.js'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-dropin-train-'))
test.after(() => fs.rmSync(folder, { recursive: true, force: true }))
const file = (name, content) => {
  const place = path.join(folder, name)
  fs.writeFileSync(place, content)
  return place
}
const hello = file('hello.txt', 'hello world hello\nhello there\n')

function trained(model, files) {
  const tokenizer = new tokenizers.Tokenizer(model.empty())
  tokenizer.setPreTokenizer(tokenizers.whitespacePreTokenizer())
  assert.equal(tokenizer.train(files), undefined)
  return tokenizer
}
const inOrder = (tokenizer) =>
  Object.entries(tokenizer.getVocab())
    .sort(([, a], [, b]) => a - b)
    .map(([token]) => token)
    .join(' ')

test('each model has its own trainer', async () => {
  const { BPE, Unigram, WordLevel, WordPiece } = tokenizers
  const bpe = trained(BPE, [hello])
  assert.equal(inOrder(bpe), 'd e h l o r t w he ll hell hello ld or re the wor there world')
  assert.deepEqual((await bpe.encode('hello world')).getIds(), [11, 18])
  assert.equal(inOrder(trained(WordLevel, [hello])), 'hello there world')
  assert.equal(trained(WordPiece, [hello]).getVocabSize(), 26)
  assert.equal(trained(Unigram, [hello]).getVocabSize(), 9)
})

test('files are read in blocks of whole lines', () => {
  const long = `${'ab'.repeat(3 << 20)} end\n`
  const expected = inOrder(trained(tokenizers.WordLevel, [file('long.txt', `one two\n${long}two`)]))
  const parts = [file('a.txt', 'one two\n'), file('b.txt', long), file('c.txt', 'two')]
  assert.equal(expected, inOrder(trained(tokenizers.WordLevel, parts)))
})

test('the tokenizer keeps its parts, and its added tokens behind the vocabulary', () => {
  const tokenizer = trained(tokenizers.BPE, [hello])
  tokenizer.addSpecialTokens(['<s>'])
  tokenizer.train([hello])
  assert.deepEqual([tokenizer.getVocabSize(), tokenizer.tokenToId('<s>')], [20, 19])
  assert.notEqual(tokenizer.getPreTokenizer(), null)
})

test('files without words, and arguments that are no files', () => {
  for (const model of ['BPE', 'Unigram', 'WordLevel', 'WordPiece'])
    assert.equal(trained(tokenizers[model], []).getVocabSize(), 0, model)
  const tokenizer = new tokenizers.Tokenizer(tokenizers.BPE.empty())
  for (const files of [undefined, hello, [7]])
    assert.throws(() => tokenizer.train(files), { code: 'ERR_TOKENLANE_ARGUMENT_TYPE' })
  const missing = { code: 'ERR_TOKENLANE_FILE_NOT_FOUND', message: 'No such file or directory (os error 2)' }
  assert.throws(() => tokenizer.train([path.join(folder, 'none.txt')]), missing)
  assert.throws(() => tokenizer.train([file('bytes.txt', Buffer.of(0xff))]), { code: 'ERR_TOKENLANE_INVALID_UTF8' })
  assert.throws(() => new tokenizers.Trainer(), /can not new it/)
})
