// The page: a text and its tokens with two tokenizers. The server counts; the page draws a part of
// the text at a time.

import { Chart } from './chart.mjs'
import { copyButton } from './clipboard.mjs'
import { Input } from './input.mjs'
import { showLanguages } from './languages.mjs'
import { fragmentOf, viewOf } from './link.mjs'
import { Pane } from './pane.mjs'
import { SAMPLES } from './samples.mjs'
import { theme } from './theme.mjs'
import { number } from './visible.mjs'

/**
 * The pause in typing, in milliseconds, after which the text is sent. Long texts are sent less
 * often.
 */
const PAUSE = 60
const LONG_PAUSE = 400
const LONG_TEXT = 50_000
/** Maximum length of a text, in UTF-16 units. */
const MAX_TEXT = 4 << 20

const about = document.getElementById('about-text')
const pager = /** @type {HTMLElement} */ (document.querySelector('.pager'))
const back = /** @type {HTMLButtonElement} */ (pager.querySelector('.back'))
const next = /** @type {HTMLButtonElement} */ (pager.querySelector('.next'))

theme(document.getElementById('theme'))
const { names, shown, text: first } = await ask('GET', 'tokenizers')
const initial = viewOf(location.hash)
const panes = shown.map((name, index) => new Pane(index, names, chosen(initial, index) ?? name, changed, idsOf))
panes.forEach(
  (pane, index) =>
    (pane.onActive = (part) => panes.forEach((other, place) => other.mark(place === index ? undefined : part))),
)
const chart = new Chart(toLine)

/** Where the drawn part of the text starts, and where it ends. */
let at = 0
let end = 0
let step = 0
let timer
let running = new AbortController()

const input = new Input((isTyping) => {
  at = 0
  clearTimeout(timer)
  if (!isTyping) update()
  else timer = setTimeout(update, input.text.length > LONG_TEXT ? LONG_PAUSE : PAUSE)
})
document.querySelector('.samples').append(...Object.keys(SAMPLES).map(sample))
back.addEventListener('click', () => move(Math.max(0, at - step)))
next.addEventListener('click', () => move(end))
const showIds = /** @type {HTMLButtonElement} */ (document.querySelector('.view .ids'))
showIds.addEventListener('click', () => setIds(showIds.getAttribute('aria-pressed') !== 'true'))
copyButton(document.querySelector('.view .link'), document.querySelector('.view .said'), linkOfView)
window.addEventListener('hashchange', () => {
  const view = viewOf(location.hash)
  panes.forEach((pane, index) => (pane.tokenizer = chosen(view, index) ?? pane.tokenizer))
  open(view, input.text)
  languages()
})
open(initial, input.text || (first ?? SAMPLES.mixed))
await languages()

/** The tokenizer that a link names for a pane, if the page has it. */
function chosen({ tokenizers = [] }, index) {
  return names.includes(tokenizers[index]) ? tokenizers[index] : undefined
}

/**
 * Shows the view of a link.
 *
 * @param {import('./link.mjs').View} view
 * @param {string} otherwise the text if the link has none
 */
function open({ text, ids = false, at: place = 0 }, otherwise) {
  setIds(ids)
  input.set(text ?? otherwise)
  if (text !== undefined && place > 0 && place < text.length) move(place)
}

function setIds(isOn) {
  showIds.setAttribute('aria-pressed', String(isOn))
  document.querySelector('.panes').classList.toggle('with-ids', isOn)
}

async function linkOfView() {
  const { fragment, hasText } = fragmentOf({
    text: input.text,
    tokenizers: panes.map(({ tokenizer }) => tokenizer),
    ids: showIds.getAttribute('aria-pressed') === 'true',
    at,
  })
  const done = hasText ? 'Link copied' : 'Link copied without the text, which is too long for a link'
  return { text: location.href.replace(/#.*$/s, '') + fragment, done }
}

async function idsOf(tokenizer) {
  return ask('POST', 'ids', { tokenizer, text: input.text })
}

/** Sends a request to the server. An error response becomes an error with the same message. */
async function ask(method, what, body, signal) {
  const init =
    body === undefined
      ? { method }
      : { method, signal, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(`/api/${what}`, init).catch((error) => {
    throw signal?.aborted ? error : new Error('The server does not respond. Start it again: tokenlane inspect --web')
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.message)
  return answer
}

/** Counts the text again and draws the result. Aborts the previous request. */
async function update() {
  running.abort()
  running = new AbortController()
  const { signal } = running
  const { text } = input
  if (text.length > MAX_TEXT) {
    panes.forEach((pane) =>
      pane.fail(
        `This page accepts texts of up to ${number(MAX_TEXT)} characters. The command line has no such limit: tokenlane count FILE`,
      ),
    )
    about.textContent = `${number(text.length)} characters are more than this page accepts.${input.note}`
    pager.hidden = true
    return
  }
  panes.forEach((pane) => pane.wait())
  const answers = await Promise.all(
    panes.map((pane) => ask('POST', 'tokens', { tokenizer: pane.tokenizer, text, at }, signal).catch((error) => error)),
  )
  if (signal.aborted) return
  answers.forEach((answer, index) =>
    answer instanceof Error ? panes[index].fail(answer.message) : panes[index].show(text, answer),
  )
  const good = answers.filter((answer) => !(answer instanceof Error))
  if (good.length === 0) return
  chart.show(
    panes.filter((_, index) => !(answers[index] instanceof Error)).map(({ tokenizer }) => tokenizer),
    good.map(({ lines }) => lines),
  )
  describe(text, good[0])
}

function describe(text, { characters, bytes, start, end: to, step: size }) {
  ;[at, end, step] = [start, to, size]
  about.textContent = `${number(characters)} characters, ${number(bytes)} bytes of UTF-8.${input.note}`
  const isPart = start > 0 || to < text.length
  pager.hidden = !isPart
  if (!isPart) return
  about.textContent += ' Counts are for the whole text; tokens are drawn for a part of it.'
  pager.querySelector('span').textContent =
    `Tokens of characters ${number(start + 1)} to ${number(to)} of ${number(text.length)}`
  back.disabled = start === 0
  next.disabled = to >= text.length
}

function move(place) {
  at = place
  update()
}

/** Selects a line in the text, and draws the part that starts with it if it is not drawn yet. */
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
  const costs = await Promise.all(
    wanted.map((tokenizer) => ask('POST', 'languages', { tokenizer }).catch(() => undefined)),
  )
  const isLatest = panes.every(({ tokenizer }, index) => tokenizer === wanted[index])
  const known = wanted.filter((_, index) => costs[index] !== undefined)
  if (isLatest && known.length > 0) showLanguages(known, costs.filter(Boolean), replace)
}
