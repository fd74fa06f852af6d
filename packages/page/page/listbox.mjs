// A list that is one tab stop: the arrow keys move in it, and a callback receives the active
// option.

/**
 * @param {HTMLElement} box an element with the role listbox; its options have the role option
 * @param {{ onShow: (option: HTMLElement | undefined) => void, onChoose?: (option: HTMLElement) =>
 *   void }} calls `onShow` is called with the option under the pointer or the keyboard cursor
 */
export function listbox(box, { onShow, onChoose }) {
  let active
  const options = () => [...box.querySelectorAll('[role=option]')]
  const show = (option) => {
    if (option === active && option?.classList.contains('active')) return
    active?.classList.remove('active')
    active = option
    active?.classList.add('active')
    if (active === undefined) box.removeAttribute('aria-activedescendant')
    else box.setAttribute('aria-activedescendant', active.id)
    onShow(active)
  }
  const at = (event) => event.target.closest?.('[role=option]')

  box.addEventListener('pointerover', (event) => at(event) && show(at(event)))
  box.addEventListener('click', (event) => {
    if (at(event) === null) return
    show(at(event))
    onChoose?.(at(event))
  })
  box.addEventListener('focus', () => {
    if (active === undefined || !box.contains(active)) show(options()[0])
  })
  box.addEventListener('keydown', (event) => {
    const all = options()
    const place = all.indexOf(active)
    const steps = {
      ArrowRight: 1,
      ArrowDown: 1,
      ArrowLeft: -1,
      ArrowUp: -1,
      PageDown: 20,
      PageUp: -20,
      Home: -Infinity,
      End: Infinity,
    }
    if (event.key in steps && all.length > 0) {
      const next = Math.min(all.length - 1, Math.max(0, (place === -1 ? 0 : place) + steps[event.key]))
      show(all[next])
      all[next].scrollIntoView({ block: 'nearest', inline: 'nearest' })
    } else if ((event.key === 'Enter' || event.key === ' ') && place !== -1) onChoose?.(active)
    else if (event.key === 'Escape') show(undefined)
    else return
    event.preventDefault()
  })

  return {
    /** Must be called after the options were replaced. */
    renew() {
      active = undefined
      box.removeAttribute('aria-activedescendant')
      onShow(undefined)
    },
  }
}
