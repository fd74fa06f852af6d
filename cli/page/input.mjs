// The text that one types, pastes or drops. A browser takes minutes to paste a megabyte into a field and seconds to edit in it: a long
// paste is put there in one step, and a text that is too long to edit is kept aside, with its start to look at.

import { number } from './visible.mjs'

/** From here on a paste is put in place without the browser's own way, in UTF-16 units. It cannot be undone then. */
const LONG_PASTE = 5_000
/** The longest text that is edited. */
const EDITED = 100_000
/** How much of a longer one is shown. */
const SHOWN = 5_000

export class Input {
  #field = document.getElementById('text')
  #clear = document.querySelector('.clear')
  #kept
  #onChange

  /** @param {(isTyping: boolean) => void} onChange hears that the text is another; typing goes on, the rest is done */
  constructor(onChange) {
    this.#onChange = onChange
    this.#field.addEventListener('input', () => onChange(true))
    this.#field.addEventListener('paste', (event) => {
      const text = event.clipboardData.getData('text/plain')
      if (this.#kept === undefined && text.length < LONG_PASTE) return
      event.preventDefault()
      this.#insert(text)
    })
    // A file, or text from elsewhere; text that is moved within the field is the browser's own affair.
    this.#field.addEventListener('dragover', (event) => event.dataTransfer.types.includes('Files') && event.preventDefault())
    this.#field.addEventListener('drop', async (event) => {
      const [file] = event.dataTransfer.files
      if (file === undefined) return
      event.preventDefault()
      this.set(await file.text())
    })
    this.#clear.addEventListener('click', () => {
      this.set('')
      this.#field.focus()
    })
  }

  get text() {
    return this.#kept ?? this.#field.value
  }

  set(text) {
    const isLong = text.length > EDITED
    this.#kept = isLong ? text : undefined
    this.#field.value = isLong ? `${text.slice(0, SHOWN)} …` : text
    this.#field.readOnly = isLong
    this.#clear.hidden = !isLong
    this.#field.scrollTop = 0
    this.#onChange(false)
  }

  /** What is to be said of a text that is kept aside. */
  get note() {
    return this.#kept === undefined ? '' : ` It is too long to edit here: only its first ${number(SHOWN)} characters stand above. Paste another one, or clear.`
  }

  /** Selects a part of the text, if it is there to be selected. */
  select(start, end) {
    if (this.#kept !== undefined) return
    this.#field.focus()
    this.#field.setSelectionRange(start, end)
  }

  scrollIntoView() {
    this.#field.scrollIntoView({ block: 'nearest' })
  }

  #insert(text) {
    if (this.#kept !== undefined) return this.set(text)
    const { value, selectionStart, selectionEnd } = this.#field
    this.set(value.slice(0, selectionStart) + text + value.slice(selectionEnd))
    this.#field.setSelectionRange(selectionStart + text.length, selectionStart + text.length)
  }
}
