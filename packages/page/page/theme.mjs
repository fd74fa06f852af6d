// The colour theme: light, dark, or that of the system.

const THEMES = { auto: ['◐', 'System'], light: ['☀', 'Light'], dark: ['☾', 'Dark'] }
const KEY = 'tokenlane-theme'

export function theme(button) {
  const names = Object.keys(THEMES)
  let current = names.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : 'auto'
  const show = () => {
    document.documentElement.dataset.theme = current
    const [sign, words] = button.children
    sign.textContent = THEMES[current][0]
    words.textContent = THEMES[current][1]
    button.setAttribute('aria-label', `Colours: ${THEMES[current][1]}. Change`)
  }
  button.addEventListener('click', () => {
    current = names[(names.indexOf(current) + 1) % names.length]
    localStorage.setItem(KEY, current)
    show()
  })
  show()
}
