'use strict'

// White space around the blocks of a template, as jinja2's trim_blocks and lstrip_blocks leave it: a block takes the newline
// behind it and, where it is the first of its line, the spaces before it. What the lexer of @huggingface/jinja would do by itself
// it does to text that only looks like a block as well, so it is given templates that were laid out here. They have no
// `{% raw %}` any more, and none of the signs `{%+` and `+%}`.

const OPENING = /\{[{%#]/g
const CLOSINGS = { '{{': '}}', '{%': '%}', '{#': '#}' }
const RAW = /^\{%[-+]?\s*raw\s*[-+]?%\}$/
const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/g

function layOut(source) {
  const out = []
  let at = 0
  let startsLine = true
  for (;;) {
    OPENING.lastIndex = at
    const start = OPENING.exec(source)?.index ?? source.length
    const text = source.slice(at, start)
    if (start === source.length) return out.join('') + text
    const end = endOf(source, start)
    const isBlock = source[start + 1] !== '{'
    const tag = source.slice(start, end)
    out.push(isBlock && tag[2] !== '+' ? withoutIndent(text, startsLine) : text)
    if (RAW.test(tag)) {
      const raw = rawBlock(source, tag, end)
      out.push(raw.text)
      at = raw.end
    } else {
      out.push(isBlock ? tag.replace(/^(..)\+/, '$1').replace(/\+(..)$/, '$1') : tag)
      at = end + (isBlock && !/[-+]..$/.test(tag) && source[end] === '\n' ? 1 : 0)
    }
    const taken = /-..$/.test(tag) ? source.slice(end).match(/^\s*/)[0] : source.slice(end, at)
    startsLine = taken.endsWith('\n')
  }
}

/** Text without the spaces between its last newline and its end, where nothing else is between them. */
function withoutIndent(text, startsLine) {
  const line = text.lastIndexOf('\n') + 1
  return (line > 0 || startsLine) && /^\s*$/.test(text.slice(line)) ? text.slice(0, line) : text
}

/** Where the tag that starts here ends; strings and braces in it are passed over. */
function endOf(source, start) {
  const closing = CLOSINGS[source.slice(start, start + 2)]
  if (closing === '#}') {
    const end = source.indexOf(closing, start + 2)
    return end < 0 ? source.length : end + 2
  }
  const parts = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|%\}|[{}]/g
  parts.lastIndex = start + 2
  for (let depth = 0, part; (part = parts.exec(source)) !== null; ) {
    const [found] = part
    const ends = depth === 0 && source.startsWith(closing, part.index)
    if (ends && !/^["']/.test(found)) return part.index + 2
    if (found === '{') depth++
    else if (found === '}') depth--
  }
  return source.length
}

/** A raw block as an expression that writes its text, and where it ends. */
function rawBlock(source, tag, start) {
  END_RAW.lastIndex = start
  const closing = END_RAW.exec(source)
  const [whole, before, behind] = closing ?? ['', '', '']
  const end = (closing?.index ?? source.length) + whole.length
  let text = source.slice(start, closing?.index)
  if (/-..$/.test(tag)) text = text.trimStart()
  if (before === '-') text = text.trimEnd()
  else if (before === '') text = withoutIndent(text, false)
  const quoted = text.replace(/[\\']/g, '\\$&')
  const skipped = behind === '' && source[end] === '\n' ? 1 : 0
  return { text: `{{${tag[2] === '-' ? '-' : ''} '${quoted}' ${behind === '-' ? '-' : ''}}}`, end: end + skipped }
}

module.exports = { layOut }
