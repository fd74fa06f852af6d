// The text field. Browsers take minutes to paste a megabyte into a field, and seconds to edit in
// it. Therefore a long paste is inserted in one step, and a text that is too long to edit is stored
// outside of the field, which shows its start.

import { number } from './visible.mjs'

/** Pastes of at least this many UTF-16 units are inserted by this script. They cannot be undone. */
const LONG_PASTE = 5_000
/** The longest text that can be edited, in UTF-16 units. */
const MAX_EDITED = 100_000
/** The shown part of a longer text, in UTF-16 units. */
const SHOWN_UNITS = 5_000

export class Input {
  #field = /** @type {HTMLTextAreaElement} */ (document.getElementById('text'))
  #clear = /** @type {HTMLButtonElement} */ (document.querySelector('.clear'))
  #stored
  #onChange

  /**
   * @param {(isTyping: boolean) => void} onChange is called when the text changes, also while
   * typing
   */
  constructor(onChange) {
    this.#onChange = onChange
    this.#field.addEventListener('input', () => onChange(true))
    this.#field.addEventListener('paste', (event) => {
      const text = event.clipboardData.getData('text/plain')
      if (this.#stored === undefined && text.length < LONG_PASTE) return
      event.preventDefault()
      this.#insert(text)
    })
    // Only files; the browser handles dropped text.
    this.#field.addEventListener(
      'dragover',
      (event) => event.dataTransfer.types.includes('Files') && event.preventDefault(),
    )
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
    return this.#stored ?? this.#field.value
  }

  set hidden(isHidden) {
    this.#field.hidden = isHidden
    this.#clear.hidden = isHidden || this.#stored === undefined
  }

  set(text) {
    const isLong = text.length > MAX_EDITED
    this.#stored = isLong ? text : undefined
    this.#field.value = isLong ? `${text.slice(0, SHOWN_UNITS)} …` : text
    this.#field.readOnly = isLong
    this.#clear.hidden = !isLong
    this.#field.scrollTop = 0
    this.#onChange(false)
  }

  /** A note for a text that is stored outside of the field. */
  get note() {
    return this.#stored === undefined
      ? ''
      : ` It is too long to edit here: the field shows only its first ${number(SHOWN_UNITS)} characters. Paste another text, or clear it.`
  }

  /** Selects a part of the text, unless the text is stored outside of the field. */
  select(start, end) {
    if (this.#stored !== undefined) return
    this.#field.focus()
    this.#field.setSelectionRange(start, end)
  }

  scrollIntoView() {
    this.#field.scrollIntoView({ block: 'nearest' })
  }

  #insert(text) {
    if (this.#stored !== undefined) return this.set(text)
    const { value, selectionStart, selectionEnd } = this.#field
    this.set(value.slice(0, selectionStart) + text + value.slice(selectionEnd))
    this.#field.setSelectionRange(selectionStart + text.length, selectionStart + text.length)
  }
}
