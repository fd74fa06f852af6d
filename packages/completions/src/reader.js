'use strict'

// What all readers of an answer share: characters that arrived, markers in them, parts and events.
//
// A reader is a generator. It yields when it needs characters that have not arrived, and decides
// nothing by where a chunk ends: a text that may become a marker waits. What is consumed goes into
// the raw text of the current part, so the parts together are the answer.
//
// A control token among ids stands in the text as two high surrogates, U+D800 and one of U+DA00 to
// U+DBFF, which no decoded text has in a row. So a marker is found by its characters in both cases,
// and the same characters written as ordinary text are not the marker.

const CONTROL = /\ud800([\uda00-\udbff])/g

/** Markers that are searched at once, the longest first. */
class Markers {
  constructor(markers) {
    this.list = [...new Set(markers)].sort((a, b) => b.length - a.length)
    const escaped = this.list.map((marker) => marker.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    this.pattern = this.list.length === 0 ? /(?!)/g : new RegExp(escaped.join('|'), 'g')
    this.longest = this.list[0]?.length ?? 0
    this.starts = new Set(this.list.map((marker) => marker.charCodeAt(0)))
    this.prefixes = new Set(this.list.flatMap((marker) => [...marker].map((_, i) => marker.slice(0, i))))
  }

  /** Where a marker may begin that the end of the text cuts; the length of the text if none. */
  openFrom(text, from) {
    for (let i = Math.max(from, text.length - this.longest + 1); i < text.length; i++)
      if (this.starts.has(text.charCodeAt(i)) && this.prefixes.has(text.slice(i))) return i
    return text.length
  }
}

class Reader {
  text = ''
  at = 0
  hasEnded = false
  events = []
  /** Parts `{ type, raw }` of the answer, without the current one. */
  parts = []
  part = { type: 'text', raw: '' }
  damage = []

  /** @param {string[]} controls the texts of the control tokens that have a place */
  constructor(controls) {
    this.controls = controls
  }

  feed(text) {
    this.text = this.at === this.text.length ? text : this.text.slice(this.at) + text
    this.at = 0
  }

  /** A text as it was written, with the texts of control tokens. */
  written(text) {
    if (this.controls.length === 0) return text
    return text.replace(CONTROL, (_, place) => this.controls[place.charCodeAt(0) - 0xda00])
  }

  begin(type) {
    if (type === 'text' && this.part.type === 'text') return
    if (this.part.raw !== '') this.parts.push(this.part)
    this.part = { type, raw: '' }
  }

  /** Consumes characters. */
  take(count) {
    const taken = this.written(this.text.slice(this.at, this.at + count))
    this.at += count
    this.part.raw += taken
    return taken
  }

  /** Notes what is wrong in the current part. */
  addDamage(kind, detail) {
    const damage = { kind, part: this.part.raw === '' ? this.parts.length - 1 : this.parts.length, ...detail }
    if (damage.part < 0) damage.part = 0
    this.damage.push(damage)
    this.events.push({ type: 'damage', ...damage })
  }

  /** Waits for a character; returns it, or '' at the end. */
  *peek() {
    while (this.at === this.text.length) {
      if (this.hasEnded) return ''
      yield
    }
    return this.text[this.at]
  }

  /** Consumes characters that a sticky pattern of single characters matches. */
  *skip(pattern) {
    while ((yield* this.peek()) !== '') {
      pattern.lastIndex = this.at
      const [run] = pattern.exec(this.text) ?? ['']
      this.take(run.length)
      if (this.at < this.text.length) return
    }
  }

  /** The marker at this place, which is not consumed. */
  *match(markers) {
    for (;;) {
      if ((yield* this.peek()) === '') return undefined
      if (!markers.starts.has(this.text.charCodeAt(this.at))) return undefined
      const rest = this.text.length - this.at
      let isOpen = false
      for (const marker of markers.list) {
        if (this.text.startsWith(marker, this.at)) return marker
        if (rest < marker.length && marker.startsWith(this.text.slice(this.at))) {
          isOpen = true
          break
        }
      }
      if (isOpen && !this.hasEnded) yield
      else if (!isOpen) return undefined
      else return markers.list.find((marker) => this.text.startsWith(marker, this.at))
    }
  }

  /** Consumes text up to the next marker, which it returns and does not consume. */
  *until(markers, write) {
    for (;;) {
      markers.pattern.lastIndex = this.at
      const found = markers.pattern.exec(this.text)
      const open = this.hasEnded ? this.text.length : markers.openFrom(this.text, this.at)
      const end = Math.min(found?.index ?? this.text.length, open)
      if (end > this.at) write(this.take(end - this.at))
      if (found !== null && found.index < open) return found[0]
      if (this.hasEnded) return undefined
      yield
    }
  }
}

module.exports = { Markers, Reader }
