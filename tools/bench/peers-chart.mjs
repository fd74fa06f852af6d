// The picture of README: how fast packages encode, as bars, on a light or a dark page.

const WIDTH = 720
const LABEL = 132 // for the names at the left
const VALUE = 60 // for the numbers at the right
const STEP = 30
const BAR = 18
const TOP = 54

const COLOURS = {
  light: { own: '#0f766e', other: '#cbd5e1', text: '#1f2328', dim: '#59636e' },
  dark: { own: '#2dd4bf', other: '#3d444d', text: '#f0f6fc', dim: '#9198a1' },
}

/**
 * @param {{ peers: { name: string, corpora: Record<string, any> }[] }} results of peers.mjs
 * @param {'light' | 'dark'} scheme
 * @returns {string} an SVG file
 */
export function picture({ peers }, scheme) {
  const colours = COLOURS[scheme]
  const speeds = peers.map(({ name, corpora }) => ({ name, speed: corpora.english.encode }))
  const rows = speeds.toSorted((a, b) => b.speed - a.speed)
  const most = rows[0].speed
  const own = rows.find(({ name }) => name === 'tokenlane').speed
  const height = TOP + rows.length * STEP + 4
  const bars = rows.map(({ name, speed }, index) => {
    const y = TOP + index * STEP
    const isOwn = name === 'tokenlane'
    const width = Math.max(2, (speed / most) * (WIDTH - LABEL - VALUE)).toFixed(1)
    const ratio = own / speed
    const shown = isOwn ? '1' : `1/${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)}`
    return [
      text({ x: LABEL - 10, y: y + 14, anchor: 'end', fill: colours.text, weight: isOwn ? 600 : 400 }, name),
      `<rect x="${LABEL}" y="${y}" width="${width}" height="${BAR}" rx="3" fill="${isOwn ? colours.own : colours.other}"/>`,
      text(
        {
          x: LABEL + Number(width) + 8,
          y: y + 14,
          fill: isOwn ? colours.text : colours.dim,
          weight: isOwn ? 600 : 400,
        },
        shown,
      ),
    ].join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif" font-size="14">
<title>MiB of English text encoded per second of processor time: ${rows.map((row) => `${row.name} ${row.speed}`).join(', ')}</title>
${text({ x: 0, y: 18, fill: colours.text, weight: 600 }, 'English text to o200k_base tokens')}
${text({ x: 0, y: 38, fill: colours.dim }, 'Speed by processor time, one text at a time, from JavaScript')}
${bars.join('\n')}
</svg>
`
}

function text({ x, y, fill, anchor = 'start', weight = 400 }, content) {
  const escaped = String(content).replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c])
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${fill}" font-weight="${weight}" xml:space="preserve">${escaped}</text>`
}
