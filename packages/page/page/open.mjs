// Opens a tokenizer that the page does not offer: a file that is chosen or dropped on a pane, or a
// repository that is named.

/**
 * @param {{ file: boolean, repository: boolean }} opens what can be opened
 * @param {(source: { repository: string } | { name: string, bytes: Uint8Array }, pane: number) =>
 *   Promise<string>} open opens a tokenizer in a pane and returns its name
 * @param {number} panes the number of panes; a tokenizer opens in the last one, or in the one that
 *   a file is dropped on
 */
export function openers(opens, open, panes) {
  const box = /** @type {HTMLDetailsElement} */ (document.querySelector('.open'))
  const status = box.querySelector('[role=status]')
  const field = /** @type {HTMLInputElement} */ (box.querySelector('input[type=text]'))
  const chosen = /** @type {HTMLInputElement} */ (box.querySelector('input[type=file]'))
  const list = /** @type {HTMLElement} */ (document.querySelector('.panes'))
  box.hidden = !opens.file && !opens.repository
  box.querySelector('form').hidden = !opens.repository
  box.querySelector('.file').toggleAttribute('hidden', !opens.file)

  async function show(name, source, pane = panes - 1) {
    status.textContent = `Opening ${name} …`
    try {
      status.textContent = `${await open(await source(), pane)} is open in list ${pane + 1} of ${panes}.`
    } catch (error) {
      status.textContent = `${name} was not opened: ${error.message}`
      box.open = true
    }
  }
  const showFile = (file, pane) =>
    show(file.name, async () => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }), pane)

  box.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault()
    const repository = field.value.trim()
    if (repository !== '') show(repository, () => ({ repository }))
  })
  box.querySelector('.file button').addEventListener('click', () => chosen.click())
  chosen.addEventListener('change', () => {
    const [file] = chosen.files
    // The same file can be chosen again.
    chosen.value = ''
    if (file !== undefined) showFile(file)
  })
  if (!opens.file) return
  list.addEventListener('dragover', (event) => event.dataTransfer.types.includes('Files') && event.preventDefault())
  list.addEventListener('drop', (event) => {
    const [file] = event.dataTransfer.files
    if (file === undefined) return
    event.preventDefault()
    const pane = [...list.children].findIndex((one) => one.contains(/** @type {Node} */ (event.target)))
    showFile(file, pane === -1 ? undefined : pane)
  })
}
