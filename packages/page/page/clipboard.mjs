// A button that copies a text and shows the result beside it.

/** Milliseconds for which the result of a copy is shown. */
const SHOWN_MS = 4000

/**
 * @param {HTMLButtonElement} button
 * @param {HTMLElement} status an element with the role status
 * @param {() => Promise<{ text: string, done: string }>} what the text, and the message after it is
 *   copied
 */
export function copyButton(button, status, what) {
  let timer
  button.addEventListener('click', async () => {
    button.disabled = true
    try {
      const { text, done } = await what()
      await navigator.clipboard.writeText(text)
      status.textContent = done
    } catch (error) {
      status.textContent = `Not copied: ${error.message}`
    }
    button.disabled = false
    button.focus()
    clearTimeout(timer)
    timer = setTimeout(() => (status.textContent = ''), SHOWN_MS)
  })
}
