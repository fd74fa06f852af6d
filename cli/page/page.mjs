// The page: a text, two tokenizers, and what becomes of it. The server does the counting; this draws a part of the text at a time.

import { Chart } from './chart.mjs'
import { Input } from './input.mjs'
import { showLanguages } from './languages.mjs'
import { Pane } from './pane.mjs'
import { SAMPLES } from './samples.mjs'
import { theme } from './theme.mjs'
import { number } from './visible.mjs'

/** How long typing has to pause, in milliseconds; a long text is sent less often. */
const PAUSE = 60
const LONG_PAUSE = 400
const LONG = 50_000
/** More than this, in UTF-16 units, is not sent at all. */
const MOST = 4 << 20

const about = document.getElementById('about-text')
const pager = document.querySelector('.pager')

theme(document.getElementById('theme'))
const { names, shown, text: first } = await ask('GET', 'tokenizers')
const panes = shown.map((name, index) => new Pane(index, names, name, changed))
panes.forEach((pane, index) => (pane.onLook = (part) => panes.forEach((other, place) => other.mark(place === index ? undefined : part))))
const chart = new Chart(toLine)

let at = 0
let end = 0
let step = 0
let timer
let running = new AbortController()

const input = new Input((isTyping) => {
  at = 0
  clearTimeout(timer)
  if (!isTyping) update()
  else timer = setTimeout(update, input.text.length > LONG ? LONG_PAUSE : PAUSE)
})
document.querySelector('.samples').append(...Object.keys(SAMPLES).map(sample))
pager.querySelector('.back').addEventListener('click', () => move(Math.max(0, at - step)))
pager.querySelector('.on').addEventListener('click', () => move(end))
input.set(input.text || (first ?? SAMPLES.mixed))
await languages()

/** A request to the server; what it refuses is an error with its words. */
async function ask(method, what, body, signal) {
  const init = body === undefined ? { method } : { method, signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`/api/${what}`, init).catch((error) => {
    throw signal?.aborted ? error : new Error('The server does not answer any more. Start it again: tokenlane inspect --web')
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer
}

/** Counts the text anew and draws. What was asked before is forgotten. */
async function update() {
  running.abort()
  running = new AbortController()
  const { signal } = running
  const { text } = input
  if (text.length > MOST) {
    panes.forEach((pane) => pane.fail(`This page takes texts of up to ${number(MOST)} characters. The command takes any: tokenlane count FILE`))
    about.textContent = `${number(text.length)} characters are more than this page takes.${input.note}`
    pager.hidden = true
    return
  }
  panes.forEach((pane) => pane.wait())
  const answers = await Promise.all(panes.map((pane) => ask('POST', 'tokens', { tokenizer: pane.tokenizer, text, at }, signal).catch((error) => error)))
  if (signal.aborted) return
  answers.forEach((answer, index) => (answer instanceof Error ? panes[index].fail(answer.message) : panes[index].show(text, answer)))
  const good = answers.filter((answer) => !(answer instanceof Error))
  if (good.length === 0) return
  chart.show(panes.filter((_, index) => !(answers[index] instanceof Error)).map(({ tokenizer }) => tokenizer), good.map(({ lines }) => lines))
  say(text, good[0])
}

function say(text, { characters, bytes, start, end: to, step: size }) {
  ;[at, end, step] = [start, to, size]
  about.textContent = `${number(characters)} characters, ${number(bytes)} bytes of UTF-8.${input.note}`
  const isPart = start > 0 || to < text.length
  pager.hidden = !isPart
  if (!isPart) return
  about.textContent += ' Counts are of the whole text; tokens are drawn for a part of it.'
  pager.querySelector('span').textContent = `Tokens of the characters ${number(start + 1)} to ${number(to)} of ${number(text.length)}`
  pager.querySelector('.back').disabled = start === 0
  pager.querySelector('.on').disabled = to >= text.length
}

function move(place) {
  at = place
  update()
}

/** Shows a line: selects it in the text, and draws the part that starts with it where it is not drawn. */
function toLine(line) {
  const { text } = input
  let start = 0
  for (let passed = 0; passed < line; passed++) start = text.indexOf('\n', start) + 1
  const stop = text.indexOf('\n', start)
  input.select(start, stop === -1 ? text.length : stop)
  if (start < at || start >= end) move(start)
}

function replace(text) {
  input.set(text)
  input.scrollIntoView()
}

function sample(name) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = name
  button.addEventListener('click', () => replace(SAMPLES[name]))
  return button
}

function changed() {
  update()
  languages()
}

async function languages() {
  const wanted = panes.map(({ tokenizer }) => tokenizer)
  const costs = await Promise.all(wanted.map((tokenizer) => ask('POST', 'languages', { tokenizer }).catch(() => undefined)))
  const isLatest = panes.every(({ tokenizer }, index) => tokenizer === wanted[index])
  const known = wanted.filter((_, index) => costs[index] !== undefined)
  if (isLatest && known.length > 0) showLanguages(known, costs.filter(Boolean), replace)
}
