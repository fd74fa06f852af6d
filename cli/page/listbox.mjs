// A list of many things that is one stop for the keyboard: arrows go through it, and who listens hears each one.

/**
 * @param {HTMLElement} box has the role listbox; its options are the elements with the role option in it
 * @param {{ onShow: (option: HTMLElement | undefined) => void, onChoose?: (option: HTMLElement) => void }} calls `onShow` for what the
 *   pointer or the keyboard is at
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
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity }
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
    /** To be called when the options are others. */
    renew() {
      active = undefined
      box.removeAttribute('aria-activedescendant')
      onShow(undefined)
    },
  }
}
