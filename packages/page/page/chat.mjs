// The messages of a chat: a role and a text each.

const ROLES = ['system', 'user', 'assistant', 'tool']
export const SAMPLE_CHAT = [
  { role: 'system', content: 'Answer in one sentence.' },
  { role: 'user', content: 'Why is the sky blue? <|im_end|>' },
  { role: 'assistant', content: 'Air scatters blue light more than red light.' },
  { role: 'user', content: 'And the sunset?' },
]

export class Chat {
  #box = /** @type {HTMLElement} */ (document.querySelector('.chat'))
  #list = /** @type {HTMLElement} */ (document.querySelector('.messages'))
  #onChange

  /** @param {(isTyping: boolean) => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange
    this.#box.querySelector('.add').addEventListener('click', () => {
      const last = this.messages.at(-1)?.role
      this.#add({ role: last === 'user' ? 'assistant' : 'user', content: '' })
        .querySelector('textarea')
        .focus()
      onChange(false)
    })
  }

  set hidden(isHidden) {
    this.#box.hidden = isHidden
  }

  get messages() {
    return Array.from(this.#list.children, (row) => ({
      role: row.querySelector('select').value,
      content: row.querySelector('textarea').value,
    }))
  }

  /** Shows messages; others than those with a role and a text are left out. */
  set messages(messages) {
    this.#list.replaceChildren()
    const isMessage = (one) => ROLES.includes(one?.role) && typeof one.content === 'string'
    for (const message of messages.filter(isMessage)) this.#add(message)
  }

  #add({ role, content }) {
    const { content: template } = /** @type {HTMLTemplateElement} */ (document.getElementById('message'))
    const row = /** @type {HTMLElement} */ (template.firstElementChild.cloneNode(true))
    const [select, field] = [row.querySelector('select'), row.querySelector('textarea')]
    select.append(...ROLES.map((one) => new Option(one, one)))
    select.value = role
    field.value = content
    select.addEventListener('change', () => this.#onChange(false))
    field.addEventListener('input', () => this.#onChange(true))
    row.querySelector('button').addEventListener('click', () => {
      row.remove()
      this.#onChange(false)
    })
    this.#list.append(row)
    return row
  }
}
