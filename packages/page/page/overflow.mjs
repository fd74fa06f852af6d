// Marks a box that has more content to one of its sides. CSS draws a shadow there.

/**
 * @param {HTMLElement} box a box that scrolls sideways
 * @param {HTMLElement} hint is shown while the box has more content than fits
 */
export function watchOverflow(box, hint) {
  const update = () => {
    const room = box.scrollWidth - box.clientWidth
    hint.hidden = room <= 1
    box.parentElement.classList.toggle('more-left', box.scrollLeft > 1)
    box.parentElement.classList.toggle('more-right', box.scrollLeft < room - 1)
  }
  box.addEventListener('scroll', update, { passive: true })
  const watch = new ResizeObserver(update)
  watch.observe(box)
  for (const child of box.children) watch.observe(child)
  update()
}
