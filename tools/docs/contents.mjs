// A plugin of typedoc: long pages of docs/api begin with links to their members.

import { MarkdownPageEvent } from 'typedoc-plugin-markdown'

/** The number of members from which a page has a list. */
const MIN_MEMBERS = 8

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

export function load(app) {
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    page.contents = withContents(page.contents)
  })
}

/** The page with a list before its second section, for each section the members in it. */
function withContents(text) {
  const lines = text.split('\n')
  const counts = new Map()
  const sections = []
  let isCode = false
  for (const line of lines) {
    if (line.startsWith('```')) isCode = !isCode
    const [, level, name] = isCode ? [] : (/^(#{1,6}) (.+)$/.exec(line) ?? [])
    if (name === undefined) continue
    const plain = name.replaceAll('\\', '')
    const anchor = anchorOf(plain)
    const count = counts.get(anchor) ?? 0
    counts.set(anchor, count + 1)
    if (level === '##') sections.push({ name: plain, members: [] })
    if (level === '###') sections.at(-1)?.members.push(`[${plain}](#${anchor}${count > 0 ? `-${count}` : ''})`)
  }
  const listed = sections.filter(({ members }) => members.length > 0)
  if (listed.reduce((sum, { members }) => sum + members.length, 0) < MIN_MEMBERS) return text
  const list = listed.map(({ name, members }) => `- ${name}: ${members.join(', ')}`)
  const at = lines.findIndex((line) => line.startsWith('## '))
  return [...lines.slice(0, at), '## Contents', '', ...list, '', ...lines.slice(at)].join('\n')
}
