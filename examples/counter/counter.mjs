// Counts the tokens of a text area as you type: an input encodes only the words around the change.

import { Tokenizer } from '@tokenlane/web'

const area = /** @type {HTMLTextAreaElement} */ (document.querySelector('#text'))
const output = /** @type {HTMLOutputElement} */ (document.querySelector('#count'))

/** The characters that two texts share at their start. Slices are compared first: they are fast. */
function sharedStart(a, b) {
  const length = Math.min(a.length, b.length)
  let at = 0
  for (let step = 4096; step >= 1; step /= 8) {
    while (at + step <= length && a.slice(at, at + step) === b.slice(at, at + step)) at += step
  }
  return at
}

/** The same at their end, without the first `start` characters. */
function sharedEnd(a, b, start) {
  const length = Math.min(a.length, b.length) - start
  let count = 0
  const isSame = (from, to) => a.slice(a.length - to, a.length - from) === b.slice(b.length - to, b.length - from)
  for (let step = 4096; step >= 1; step /= 8) {
    while (count + step <= length && isSame(count, count + step)) count += step
  }
  return count
}

const tokenizer = await Tokenizer.fromEncoding('o200k_base')
const live = tokenizer.live(area.value, { specialTokens: 'text' })
let before = area.value

function update() {
  const after = area.value
  const start = sharedStart(before, after)
  const end = sharedEnd(before, after, start)
  live.replace(start, before.length - end, after.slice(start, after.length - end))
  before = after
  show()
}

function show() {
  output.textContent = `${live.count()} tokens`
}

area.addEventListener('input', update)
show()
