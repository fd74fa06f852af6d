// Tokens of each line, for both tokenizers, as bars. For accessibility every bar is an option with
// a text.

import { listbox } from './listbox.mjs'
import { number, plural } from './visible.mjs'

export class Chart {
  #box = /** @type {HTMLElement} */ (document.querySelector('.bars'))
  #note = document.getElementById('lines-note')
  #list
  #about = ''

  /**
   * @param {(line: number) => void} onChoose is called with the index of the line whose bar is
   * chosen
   */
  constructor(onChoose) {
    this.#list = listbox(this.#box, {
      onShow: (option) => (this.#note.textContent = option ? option.getAttribute('aria-label') : this.#about),
      onChoose: (option) => onChoose(Number(option.dataset.line)),
    })
  }

  /** Shows the `lines` of the responses, and the names of the tokenizers. */
  show(names, lines) {
    const [{ total, per, counts }] = lines
    const max = Math.max(1, ...lines.flatMap((one) => one.counts))
    document.querySelector('.legend').replaceChildren(...names.map(legend))
    document.querySelector('.scale').textContent = number(max)
    this.#about = per === 1 ? `${plural(total, 'line')}.` : `${plural(total, 'line')}; each bar shows ${per} of them.`
    this.#box.replaceChildren(...counts.map((_, bar) => this.#bar(bar, per, total, names, lines, max)))
    this.#list.renew()
  }

  /** Shows nothing: there are no counts. */
  clear() {
    document.querySelector('.scale').textContent = ''
    this.#about = ''
    this.#box.replaceChildren()
    this.#list.renew()
    this.#note.textContent = ''
  }

  #bar(bar, per, total, names, lines, max) {
    const option = document.createElement('div')
    option.id = `line${bar}`
    option.dataset.line = String(bar * per)
    option.setAttribute('role', 'option')
    const [first, last] = [bar * per + 1, Math.min(total, (bar + 1) * per)]
    const counts = lines.map((one, index) => `${plural(one.counts[bar], 'token')} in ${names[index]}`)
    option.setAttribute(
      'aria-label',
      `${first === last ? `Line ${number(first)}` : `Lines ${number(first)} to ${number(last)}`}: ${counts.join(', ')}`,
    )
    option.append(
      ...lines.map((one, index) => {
        const part = document.createElement('span')
        part.className = `bar b${index}`
        part.style.setProperty('--height', String(one.counts[bar] / max))
        return part
      }),
    )
    return option
  }
}

function legend(name, index) {
  const item = document.createElement('span')
  item.className = `b${index}`
  item.textContent = name
  return item
}
