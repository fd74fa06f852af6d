// The page: a text, a chat or ids, and the tokens with two tokenizers. The server counts; the page
// draws a part of the text at a time.

import { ask } from './api.mjs'
import { Chat, SAMPLE_CHAT } from './chat.mjs'
import { Chart } from './chart.mjs'
import { copyButton } from './clipboard.mjs'
import { numbersOf } from './ids.mjs'
import { Input } from './input.mjs'
import { showLanguages } from './languages.mjs'
import { fragmentOf, viewOf } from './link.mjs'
import { openers } from './open.mjs'
import { Pane } from './pane.mjs'
import { costOf } from './price.mjs'
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
const TITLES = { text: 'Text', chat: 'Chat', ids: 'Ids' }
/** Maximum length of a text, in UTF-16 units. */
const MAX_TEXT = 4 << 20

/** Number of words that a note lists, and the part of each that it shows, in UTF-16 units. */
const MAX_LISTED = 5
const MAX_LISTED_LENGTH = 20

/** Ids of o200k_base. */
const SAMPLE_IDS = '[13225, 11, 2375, 0]'

const about = document.getElementById('about-text')
const pager = /** @type {HTMLElement} */ (document.querySelector('.pager'))
const back = /** @type {HTMLButtonElement} */ (pager.querySelector('.back'))
const next = /** @type {HTMLButtonElement} */ (pager.querySelector('.next'))

theme(document.getElementById('theme'))
const { names, shown, text: first, local, opens } = await ask('GET', 'tokenizers')
const initial = viewOf(location.hash)
const panes = shown.map((name, index) => new Pane(index, names, chosen(initial, index) ?? name, changed, idsOf))
panes.forEach(
  (pane, index) =>
    (pane.onActive = (part) => panes.forEach((other, position) => other.mark(position === index ? undefined : part))),
)
const chart = new Chart(toLine)

/** What is entered: a text, a chat or ids. */
let mode = 'text'
/** Where the drawn part of the text starts, and where it ends. */
let at = 0
let end = 0
let step = 0
let timer
let running = new AbortController()

const input = new Input(entered)
const chat = new Chat(entered)
const price = /** @type {HTMLInputElement} */ (document.getElementById('price'))
price.addEventListener('input', () => entered(true))
const modes = /** @type {HTMLButtonElement[]} */ ([...document.querySelectorAll('.modes button')])
/** What was entered in the modes whose field is the same. */
const kept = { text: input.text || (first ?? SAMPLES.mixed), ids: SAMPLE_IDS }
for (const button of modes) button.addEventListener('click', () => choose(button.dataset.mode))
chat.messages = SAMPLE_CHAT
document.querySelector('.samples').append(...Object.keys(SAMPLES).map(sample))
back.addEventListener('click', () => move(Math.max(0, at - step)))
next.addEventListener('click', () => move(end))
const showIds = /** @type {HTMLButtonElement} */ (document.querySelector('.view .ids'))
showIds.addEventListener('click', () => setIds(showIds.getAttribute('aria-pressed') !== 'true'))
copyButton(document.querySelector('.view .link'), document.querySelector('.view .said'), linkOfView)
window.addEventListener('hashchange', () => {
  const view = viewOf(location.hash)
  // The address of an element of the page, such as that of the skip link.
  if (view.tokenizers === undefined) return
  keep()
  panes.forEach((pane, index) => (pane.tokenizer = chosen(view, index) ?? pane.tokenizer))
  open(view)
  languages()
})
openers(opens, openTokenizer, panes.length)
open(initial)
await languages()

/** The tokenizer that a link names for a pane, if the page has it. */
function chosen({ tokenizers = [] }, index) {
  return names.includes(tokenizers[index]) ? tokenizers[index] : undefined
}

/**
 * Shows the view of a link; without a text, with the last one of its mode.
 *
 * @param {import('./link.mjs').View} view
 */
function open({ text, ids = false, at: position = 0, mode: wanted = 'text', price: given = '' }) {
  setIds(ids)
  price.value = given
  setMode(wanted)
  if (mode === 'chat') {
    if (text !== undefined) chat.messages = messagesOf(text)
    return update()
  }
  input.set(text ?? kept[mode])
  if (text !== undefined && position > 0 && position < text.length) move(position)
}

/** Opens a tokenizer in a pane, offers it in all, and returns its name. */
async function openTokenizer(source, pane) {
  const { name } = await ask('POST', 'open', source)
  if (!names.includes(name)) names.push(name)
  if ('bytes' in source && !local.includes(name)) local.push(name)
  panes.forEach((one) => one.offer(names))
  panes[pane].tokenizer = name
  changed()
  return name
}

/** The messages of a link. */
function messagesOf(text) {
  try {
    const messages = JSON.parse(text)
    return Array.isArray(messages) ? messages : []
  } catch {
    return []
  }
}

/** Is called when the input changes, also while typing. */
function entered(isTyping) {
  at = 0
  clearTimeout(timer)
  if (!isTyping) update()
  else timer = setTimeout(update, mode !== 'chat' && input.text.length > LONG_TEXT ? LONG_PAUSE : PAUSE)
}

function setMode(wanted) {
  mode = wanted
  for (const button of modes) button.setAttribute('aria-pressed', String(button.dataset.mode === mode))
  chat.hidden = mode !== 'chat'
  input.hidden = mode === 'chat'
  document.getElementById('text-label').textContent = TITLES[mode]
  document.querySelector('.samples').toggleAttribute('hidden', mode !== 'text')
}

/** A text and ids have the same field, and both are kept. */
function keep() {
  if (mode !== 'chat') kept[mode] = input.text
}

/** Changes what is entered. */
function choose(wanted) {
  if (wanted === mode) return
  keep()
  setMode(wanted)
  if (mode === 'chat') entered(false)
  else input.set(kept[mode])
}

/**
 * What is sent; `others` are the words beside ids, which are not.
 *
 * @returns {{ mode?: string, text?: string, messages?: any[], ids?: number[], others?: string[] }}
 */
function question() {
  if (mode === 'chat') return { mode, messages: chat.messages }
  if (mode === 'ids') return { mode, ...numbersOf(input.text) }
  return { text: input.text }
}

function setIds(isOn) {
  showIds.setAttribute('aria-pressed', String(isOn))
  document.querySelector('.panes').classList.toggle('with-ids', isOn)
}

async function linkOfView() {
  const chosen = panes.map(({ tokenizer }) => tokenizer)
  const isLocal = (name) => local.includes(name)
  const { fragment, hasText } = fragmentOf({
    text: mode === 'chat' ? JSON.stringify(chat.messages) : input.text,
    mode,
    price: price.value,
    tokenizers: chosen.map((name) => (isLocal(name) ? '' : name)),
    ids: showIds.getAttribute('aria-pressed') === 'true',
    at,
  })
  const without = [
    ...(hasText ? [] : ['the text, which is too long for a link']),
    ...(chosen.some(isLocal) ? ['the names of files'] : []),
  ]
  const done = without.length === 0 ? 'Link copied' : `Link copied without ${without.join(', and without ')}`
  return { text: location.href.replace(/#.*$/s, '') + fragment, done }
}

async function idsOf(tokenizer) {
  const { others: _, ...asked } = question()
  return ask('POST', 'ids', { tokenizer, ...asked })
}

/** Counts the text again and draws the result. Aborts the previous request. */
async function update() {
  running.abort()
  running = new AbortController()
  const { signal } = running
  const { text } = input
  if (mode !== 'chat' && text.length > MAX_TEXT)
    return refuse(
      `This page accepts texts of up to ${number(MAX_TEXT)} characters. The command line has no such limit: tokenlane count FILE`,
      `${number(text.length)} characters are more than this page accepts.${input.note}`,
    )
  const { others = [], ...asked } = question()
  if (others.length > 0 && asked.ids.length === 0)
    return refuse(`There are no ids here. Ids are whole numbers, such as ${SAMPLE_IDS}.`)
  panes.forEach((pane) => pane.wait())
  const answers = await Promise.all(
    panes.map((pane) =>
      ask('POST', 'tokens', { tokenizer: pane.tokenizer, ...asked, at }, signal).then(
        (answer) => answer,
        (error) => ({ refused: error.message }),
      ),
    ),
  )
  if (signal.aborted) return
  const isDrawn = ({ refused }) => refused === undefined
  answers.forEach((answer, index) => {
    const cost = answer.count === undefined ? undefined : costOf(price.value, answer.count)
    if (!isDrawn(answer)) panes[index].fail(answer.refused, { count: answer.count, cost })
    else panes[index].show(answer.text ?? text, answer, { cost, roles: asked.messages?.map(({ role }) => role) })
  })
  const good = answers.filter(isDrawn)
  if (good.length === 0) return nothingDrawn()
  chart.show(
    panes.filter((_, index) => isDrawn(answers[index])).map(({ tokenizer }) => tokenizer),
    good.map(({ lines }) => lines),
  )
  describe(good[0].text ?? text, good[0])
  if (others.length > 0) about.textContent += ` Left out, because they are no numbers: ${listOf(others)}`
}

/** Shows a message in place of all tokens, and a note below the text. */
function refuse(message, note) {
  panes.forEach((pane) => pane.fail(message))
  nothingDrawn(note)
}

function nothingDrawn(note = '') {
  about.textContent = note
  pager.hidden = true
  chart.clear()
}

/** The first words of a list, each cut to `MAX_LISTED_LENGTH`. */
function listOf(words) {
  const shown = words.slice(0, MAX_LISTED).map((word) => word.slice(0, MAX_LISTED_LENGTH))
  const more = words.length - shown.length
  return shown.join(', ') + (more > 0 ? ` and ${number(more)} more` : '')
}

function describe(text, { characters, bytes, start, end: to, step: size }) {
  ;[at, end, step] = [start, to, size]
  about.textContent = `${number(characters)} characters, ${number(bytes)} bytes of UTF-8.${mode === 'chat' ? '' : input.note}`
  const isPart = start > 0 || to < text.length
  pager.hidden = !isPart
  if (!isPart) return
  about.textContent += ' Counts are for the whole text; tokens are drawn for a part of it.'
  pager.querySelector('span').textContent =
    `Tokens of characters ${number(start + 1)} to ${number(to)} of ${number(text.length)}`
  back.disabled = start === 0
  next.disabled = to >= text.length
}

function move(position) {
  at = position
  update()
}

/** Selects a line in the text, and draws the part that starts with it if it is not drawn yet. */
function toLine(line) {
  if (mode !== 'text') return
  const { text } = input
  let start = 0
  for (let passed = 0; passed < line; passed++) start = text.indexOf('\n', start) + 1
  const stop = text.indexOf('\n', start)
  input.select(start, stop === -1 ? text.length : stop)
  if (start < at || start >= end) move(start)
}

function replace(text) {
  keep()
  setMode('text')
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
