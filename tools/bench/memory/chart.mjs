// A bar chart as SVG: groups of bars, each with its value at the end.

// Sizes are in pixels.
const WIDTH = 760
const LABEL_WIDTH = 250
const BAR_HEIGHT = 18
const COLOURS = ['#3b6ea8', '#c46a2f', '#5b8c5a', '#8a6fb0']

const escape = (text) => text.replace(/[&<>]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[letter])

/** `bars` are `{ label, value }`, or `null` for a gap. All bars have the same scale. */
export function barChart(title, unit, bars) {
  const most = Math.max(...bars.map((bar) => bar?.value ?? 0), 1)
  const height = 44 + bars.length * (BAR_HEIGHT + 6)
  let colour = 0
  const drawn = bars.map((bar, i) => {
    if (bar === null) {
      colour = 0
      return ''
    }
    const y = 36 + i * (BAR_HEIGHT + 6)
    const width = Math.max(1, Math.round((bar.value / most) * (WIDTH - LABEL_WIDTH - 90)))
    const fill = COLOURS[colour++ % COLOURS.length]
    return (
      `<text x="${LABEL_WIDTH - 8}" y="${y + 13}" text-anchor="end">${escape(bar.label)}</text>` +
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" fill="${fill}"/>` +
      `<text x="${LABEL_WIDTH + width + 6}" y="${y + 13}">${bar.value.toFixed(0)} ${escape(unit)}</text>`
    )
  })
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">` +
    `<rect width="100%" height="100%" fill="#ffffff"/><text x="12" y="22" font-size="14">${escape(title)}</text>` +
    `${drawn.filter(Boolean).join('\n')}</svg>\n`
  )
}
