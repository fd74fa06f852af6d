// One tokenizer: its counts, the tokens of the shown part of the text, and the details of the
// active token.

import { copyButton } from './clipboard.mjs'
import { listbox } from './listbox.mjs'
import { labelsOf } from './names.mjs'
import { number, partsOf, plural, signed, spoken } from './visible.mjs'

const KINDS = {
  text: '',
  special: 'special token that is part of the text',
  added: 'special token, added by the tokenizer',
  half: 'part of a character',
}

/** Maximum length of a tokenizer's name in the list, in characters. It must fit on a phone. */
const MAX_LABEL = 30

export class Pane {
  /** Is called with the text range of the active token, or undefined without an active token. */
  onActive = (/** @type {{ start: number, end: number } | undefined} */ _) => {}
  /** @type {any} */
  #element
  #tokens = []
  #text = ''
  #roles = []
  #list
  #id

  /**
   * @param {number} index of the pane
   * @param {string[]} names of all tokenizers
   * @param {string} name of the selected one
   * @param {() => void} onChange
   * @param {(tokenizer: string) => Promise<number[]>} idsOf the ids of the whole text
   */
  constructor(index, names, name, onChange, idsOf) {
    const { content } = /** @type {HTMLTemplateElement} */ (document.getElementById('pane'))
    this.#element = content.firstElementChild.cloneNode(true)
    this.#id = `pane${index}`
    this.#select.id = this.#id
    this.offer(names)
    this.#select.value = name
    this.#select.addEventListener('change', onChange)
    this.#list = listbox(this.#box, { onShow: (option) => this.#activate(option) })
    const copy = this.#element.querySelector('.copying')
    copyButton(copy.querySelector('button'), copy.querySelector('.said'), async () => {
      const ids = await idsOf(this.tokenizer)
      return { text: JSON.stringify(ids), done: `${plural(ids.length, 'id')} copied` }
    })
    document.querySelector('.panes').append(this.#element)
    this.#name()
  }

  get tokenizer() {
    return this.#select.value
  }

  /** Selects a tokenizer, without a call of `onChange`. */
  set tokenizer(name) {
    this.#select.value = name
  }

  /** Lists the tokenizers that can be chosen; the selected one stays. */
  offer(names) {
    const { tokenizer } = this
    const labels = labelsOf(names, MAX_LABEL)
    this.#select.replaceChildren(...names.map((one, place) => new Option(labels[place], one)))
    if (tokenizer !== '') this.#select.value = tokenizer
  }

  get #select() {
    return this.#element.querySelector('select')
  }

  get #box() {
    return this.#element.querySelector('.tokens')
  }

  #name() {
    this.#select.setAttribute('aria-label', 'Tokenizer')
    const full = this.#element.querySelector('.full')
    full.textContent = this.#select.selectedOptions[0]?.text === this.tokenizer ? '' : this.tokenizer
    this.#element.querySelector('.copy').setAttribute('aria-label', `Copy ids of ${this.tokenizer}`)
    this.#box.setAttribute('aria-label', `Tokens of ${this.tokenizer}`)
  }

  /** Only a list of tokens is one for assistive technology, and a stop of the Tab key. */
  #becomes(role) {
    this.#element.removeAttribute('aria-busy')
    this.#box.setAttribute('role', role)
    this.#box.tabIndex = role === 'listbox' ? 0 : -1
  }

  wait() {
    this.#element.setAttribute('aria-busy', 'true')
  }

  /**
   * Shows a response.
   *
   * @param {string} text
   * @param {any} answer
   * @param {{ cost?: string, roles?: string[] }} [more] `roles` are those of the messages of a chat
   */
  show(text, { count, characters, bytes, tokens }, { cost, roles = [] } = {}) {
    this.#roles = roles
    this.#name()
    this.#becomes('listbox')
    this.#element.classList.remove('failed')
    this.#text = text
    this.#tokens = tokens
    const [total, about] = this.#element.querySelectorAll('.counts > *')
    total.textContent = plural(count, 'token')
    const each = `${number(characters / count, 2)} characters and ${number(bytes / count, 2)} bytes each`
    about.textContent = count === 0 ? '' : cost === undefined ? each : `${cost}, ${each}`
    this.#box.replaceChildren(...tokens.map((token) => this.#draw(token)))
    this.#list.renew()
  }

  /**
   * Shows a message in place of the tokens.
   *
   * @param {string} message
   * @param {{ count?: number, cost?: string }} [known] the count, if it is known without the tokens
   */
  fail(message, { count, cost = '' } = {}) {
    this.#name()
    this.#becomes('status')
    this.#element.classList.toggle('failed', count === undefined)
    this.#tokens = []
    const [total, about] = this.#element.querySelectorAll('.counts > *')
    total.textContent = count === undefined ? '–' : plural(count, 'token')
    about.textContent = cost
    this.#box.replaceChildren(message)
    this.#list.renew()
  }

  /** Marks the tokens that overlap a part of the text. */
  mark(part) {
    const options = this.#box.children
    this.#tokens.forEach(({ kind, start, end }, index) => {
      const has = part !== undefined && kind !== 'added' && start < part.end && end > part.start
      options[index].classList.toggle('same', has)
    })
  }

  #textOf({ kind, token, start, end }) {
    return kind === 'added' ? token : this.#text.slice(start, end)
  }

  #draw(token) {
    const { index, id, kind, bytes, start, end, message } = token
    const option = document.createElement('span')
    option.id = `${this.#id}-${index}`
    option.dataset.id = String(id)
    const text = this.#textOf(token)
    const said = message === undefined || message === null ? '' : ` said s${message % 2}`
    option.className = `token c${index % 4} ${kind}${said}${text.endsWith('\n') ? ' end' : ''}`
    option.setAttribute('role', 'option')
    const what = kind === 'half' ? `bytes ${bytes}, part of ${spoken(text)}` : spoken(text)
    const place = kind === 'added' ? '' : `, characters ${start} to ${end}`
    option.setAttribute(
      'aria-label',
      `${what}, id ${id}${place}${kind === 'special' || kind === 'added' ? ', special token' : ''}${message === undefined ? '' : `, ${this.#origin(message)}`}`,
    )
    if (kind === 'half') option.append(bytes)
    else option.append(...drawn(text))
    return option
  }

  /** Where a token of a chat comes from: a message, or the template if that is null. */
  #origin(message) {
    return message === null ? 'written by the template' : `message ${message + 1}, ${this.#roles[message]}`
  }

  #activate(option) {
    const token = option && this.#tokens[[...this.#box.children].indexOf(option)]
    const detail = this.#element.querySelector('.detail')
    detail.classList.toggle('empty', token === undefined)
    detail.replaceChildren(...(token ? this.#detail(token) : hint()))
    this.onActive(token && token.kind !== 'added' ? { start: token.start, end: token.end } : undefined)
  }

  #detail(token) {
    const { index, id, kind, start, end, bytes } = token
    const text = this.#textOf(token)
    const rows = [
      ['token', `${number(index + 1)}${KINDS[kind] ? `, ${KINDS[kind]}` : ''}`],
      ['id', String(id)],
      ['offsets', kind === 'added' ? 'none' : `${number(start)} to ${number(end)}`],
      ['bytes', bytes.length > 95 ? `${bytes.slice(0, 95)} …` : bytes],
      ['text', signed(text).slice(0, 80)],
      ['in the vocabulary', token.token.slice(0, 80)],
      ...(token.message === undefined ? [] : [['origin', this.#origin(token.message)]]),
    ]
    return rows.map(([term, value]) => {
      const row = document.createElement('div')
      const [name, content] = [document.createElement('dt'), document.createElement('dd')]
      name.textContent = term
      content.textContent = value
      row.append(name, content)
      return row
    })
  }
}

/** @returns {any[]} */
function drawn(text) {
  const nodes = []
  for (const part of /** @type {any[]} */ (partsOf(text))) {
    if (typeof part === 'string') nodes.push(part)
    else {
      const sign = document.createElement('i')
      sign.textContent = part.sign
      nodes.push(sign)
      if (part.end) nodes.push(document.createElement('br'))
    }
  }
  return nodes
}

function hint() {
  const row = document.createElement('div')
  row.className = 'hint'
  const content = document.createElement('dd')
  content.textContent = matchMedia('(pointer: coarse)').matches
    ? 'Tap a token for its details.'
    : 'Point at a token, or press Tab and the arrow keys.'
  row.append(content)
  return [row]
}
