'use strict'

// One reader for all formats; src/formats has their data, and formats.js compiles it.
//
//   answer := (text | reasoning | calls | skipped marker)* end?      or, for harmony, message*
//   calls  := open call* close, where a body says what a call is:
//     json    objects with a name and arguments, alone or in an array
//     headed  begin HEADER separator ARGUMENTS end, with arguments in JSON, in tags or as a literal
//     python  name(key=value, …), separated by commas or line ends
//
// A section that turns out to have no call is text, with its markers. A call is announced when its
// name is known, so a call whose arguments are damaged stays a call, and `damage` says so.

const { Reader } = require('./reader.js')
const { SPACE, characters, json, jsonString, literal } = require('./values.js')
const { parameterText, typeOf } = require('./parameters.js')
const { problemsOf } = require('./schema.js')

const SEPARATORS = /[\s,;]*/y
const NAME = /(?:[\w.:/-]|[^\0-\x7f\ud800-\udfff])+/y

/** What may stand around reasoning, and before an answer. */
const LINE_ENDS = new Set('\n')

class Engine extends Reader {
  calls = []
  call = undefined
  /**
   * Whether line ends are dropped before the next text, whether some were, and those that may be
   * syntax.
   */
  sinks = {
    text: { lead: false, hasDropped: false, held: '' },
    reasoning: { lead: false, hasDropped: false, held: '' },
  }
  sink = 'text'
  totals = { text: '', reasoning: '' }
  /** Whether the answer ends within reasoning or a call. */
  isCut = false
  /** Whether the last section was text, so that its closing marker is text too. */
  hasFailed = false

  /**
   * @param {import('./formats.js').Compiled} format
   * @param {{ tools?: Map<string, any>, createId: Function, checkArguments?: boolean }} options
   * `tools` has the schemas of arguments by the names of tools
   */
  constructor(format, options) {
    super(format.controls)
    this.format = format
    this.options = options
    this.tools = options.tools
  }

  // --- text and reasoning ---

  open(type, hasLead) {
    this.sink = type
    if (hasLead) this.sinks[type].lead = true
  }

  write = (text) => {
    const sink = this.sinks[this.sink]
    const trim = this.sink === 'text' ? this.format.trim : LINE_ENDS
    let start = 0
    if (sink.lead) while (start < text.length && LINE_ENDS.has(text[start])) start++
    if (start > 0) sink.hasDropped = true
    if (start === text.length) return
    // Texts with line ends and a call between them are two lines.
    if (sink.hasDropped && this.totals[this.sink] !== '') this.emit('\n')
    sink.lead = sink.hasDropped = false
    let end = text.length
    while (end > start && trim.has(text[end - 1])) end--
    if (end > start) {
      this.emit(sink.held + text.slice(start, end))
      sink.held = ''
    }
    sink.held += text.slice(end)
  }

  emit(text) {
    const last = this.events.at(-1)
    if (last?.type === this.sink) last.text += text
    else this.events.push({ type: this.sink, text })
    this.totals[this.sink] += text
  }

  /** Ends a text or reasoning; line ends before a marker are syntax. */
  close(isBeforeMarker) {
    const sink = this.sinks[this.sink]
    const { held } = sink
    sink.held = ''
    if (isBeforeMarker && held !== '') sink.hasDropped = true
    if (!isBeforeMarker && held !== '') this.emit(held)
  }

  // --- calls ---

  startCall() {
    if (this.part.type !== 'toolCall' || this.part.hasCall) this.begin('toolCall')
    this.part.hasCall = true
    this.call = { id: undefined, name: undefined, arguments: '', isAnnounced: false }
  }

  /** A call is one now. Its section is no text, so line ends before it are syntax. */
  announce() {
    const { call } = this
    if (call.isAnnounced) return
    this.close(true)
    this.open('text', true)
    call.isAnnounced = true
    call.index = this.calls.length
    call.id ??= this.options.createId(call.index)
    this.calls.push(call)
    this.events.push({ type: 'toolCall', index: call.index, id: call.id, name: call.name, arguments: call.arguments })
    if (this.tools !== undefined && !this.tools.has(call.name))
      this.addDamage('tool', { call: call.index, name: call.name })
  }

  writeArguments = (text) => {
    const { call } = this
    call.arguments += text
    if (!call.isAnnounced || text === '') return
    const last = this.events.at(-1)
    if (last?.type === 'toolCall' && last.index === call.index) last.arguments += text
    else this.events.push({ type: 'toolCall', index: call.index, id: call.id, name: call.name, arguments: text })
  }

  endCall(isWhole) {
    const { call } = this
    this.announce()
    if (call.arguments === '' && isWhole) this.writeArguments('{}')
    this.call = undefined
    if (call.isRepeated) this.addDamage('syntax', { call: call.index })
    const parsed = valueOf(call.arguments)
    if (!isWhole || typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
      this.addDamage('arguments', { call: call.index })
    else if (this.options.checkArguments) {
      const problems = problemsOf(parsed, this.tools?.get(call.name))
      if (problems.length > 0) this.addDamage('schema', { call: call.index, problems })
    }
    this.events.push({ type: 'toolCall', index: call.index, id: call.id, name: call.name, arguments: '', isDone: true })
  }

  /** What was taken for a call is text. */
  fail(section) {
    this.call = undefined
    const { raw } = this.part
    const type = this.sink
    this.part = { type, raw: this.parts.at(-1)?.type === type ? this.parts.pop().raw + raw : raw }
    if (!section.isGuess) this.addDamage('call')
    this.write(raw)
    this.hasFailed = !section.isGuess
  }

  /** Skips up to the end of a section whose last call is damaged. */
  *recover(section) {
    const marker = yield* this.until(section.stops, () => {})
    if (section.close.list.includes(marker)) this.take(marker.length)
  }

  *section(found, marker) {
    let section = found
    this.begin('toolCall')
    this.hasOpener = !section.isGuess && !section.begin?.list.includes(marker)
    if (this.hasOpener) this.take(marker.length)
    if (section.ifJson !== undefined) {
      if (!this.hasOpener) this.take(marker.length)
      yield* this.skip(SPACE)
      const next = yield* this.peek()
      if (next === '[' || next === '{') section = section.ifJson
    }
    if (yield* this[section.body](section)) return
    const isEnd = (yield* this.peek()) === ''
    if (isEnd && (!section.isGuess || this.call?.isAnnounced)) this.isCut = true
    if (!this.call?.isAnnounced) return this.fail(section)
    this.endCall(false)
    yield* this.recover(section)
  }

  /** Consumes the marker that ends a section. False where there is something else. */
  *isClosed(section) {
    const marker = yield* this.match(section.stops)
    if (marker !== undefined && section.close.list.includes(marker)) this.take(marker.length)
    else if (marker === undefined && (yield* this.peek()) !== '') return false
    else if (section.close.list.length > 0 && this.hasOpener) this.addDamage('unclosed')
    return true
  }

  /** A section without a call, which is closed. */
  empty() {
    this.part.type = 'syntax'
    this.addDamage('call')
    return true
  }

  *json(section) {
    const isOpenEnded = section.close.list.length === 0
    let isArray = false
    for (let count = 0; ; ) {
      yield* this.skip(SEPARATORS)
      const next = yield* this.peek()
      const marker = yield* this.match(section.stops)
      if (next === '[' && marker === undefined && !isArray && count === 0) {
        this.take(1)
        isArray = true
      } else if (next === ']' && isArray) {
        this.take(1)
        isArray = false
        if (isOpenEnded) return count > 0
      } else if (next === '{' && marker === undefined) {
        this.startCall()
        if (!(yield* this.jsonCall(section))) return false
        count++
      } else if (isOpenEnded && count > 0 && !isArray) return true
      else if (yield* this.isClosed(section)) {
        if (isArray) this.isCut = true
        return count > 0 || (marker === undefined ? false : this.empty())
      } else if (count === 0) return false
      else return yield* this.junk(section)
    }
  }

  /** Skips what is no call after a call. */
  *junk(section) {
    this.addDamage('syntax')
    yield* this.recover(section)
    return true
  }

  *jsonCall(section) {
    const { call } = this
    if (!(yield* this.members(section))) return false
    if (call.name === undefined || (section.isGuess && !call.hasArguments)) return false
    if (section.isGuess && this.tools !== undefined && !this.tools.has(call.name)) return false
    this.endCall(true)
    return true
  }

  /** The members of an object that is a call. */
  *members(section, depth = 0) {
    const { call } = this
    const { keys } = section
    this.take(1)
    for (;;) {
      yield* this.skip(SEPARATORS)
      if ((yield* this.peek()) === '}') {
        this.take(1)
        return true
      }
      const key = yield* jsonString(this, section)
      yield* this.skip(SPACE)
      if (key === undefined || (yield* this.peek()) !== ':') return false
      this.take(1)
      yield* this.skip(SPACE)
      const isObject = (yield* this.peek()) === '{'
      if (keys.arguments.includes(key)) {
        if (!(yield* this.member(section))) return false
      } else if (isObject && key === 'function' && depth === 0) {
        if (!(yield* this.members(section, 1))) return false
      } else if (keys.name.includes(key)) {
        const name = yield* jsonString(this, section)
        if (name === undefined) return false
        this.setOnce('name', name)
      } else {
        if (section.isGuess && !keys.known.includes(key)) return false
        let value = ''
        if (!(yield* json(this, (text) => (value += text), section))) return false
        if (keys.id?.includes(key)) this.setOnce('id', String(valueOf(value) ?? value))
      }
      if (this.isKnown(section) && (!section.isGuess || call.hasArguments)) this.announce()
    }
  }

  /** The first name and the first id count, since a call may be announced by them. */
  setOnce(field, value) {
    const { call } = this
    if (call[field] === undefined) call[field] = value
    else call.isRepeated = true
  }

  /** Whether the name of a call is known, and its id, which some models write last. */
  isKnown({ keys }) {
    return this.call.name !== undefined && (keys.id === undefined || this.call.id !== undefined)
  }

  /** The arguments of a JSON object. A string that has JSON is unpacked. */
  *member(section) {
    const { call } = this
    call.hasArguments = true
    if ((yield* this.peek()) === '"') {
      let source = ''
      if (!(yield* json(this, (text) => (source += text), section))) return false
      const text = valueOf(source)
      this.writeArguments(typeof text === 'string' && typeof valueOf(text) === 'object' ? text : source)
      return true
    }
    const isTool = !section.isGuess || this.tools === undefined || this.tools.has(call.name)
    if (this.isKnown(section) && isTool) this.announce()
    return yield* json(this, this.writeArguments, section)
  }

  *headed(section) {
    for (let count = 0; ; count++) {
      if (count > 0 && !this.hasOpener) return true
      let isClean = true
      if (section.ifJson === undefined || count > 0) {
        const marker = yield* this.until(section.begins, (text) => (isClean &&= section.filler.test(text)))
        if (!isClean && count === 0) return false
        if (!isClean) this.addDamage('syntax')
        if (!section.begin.list.includes(marker)) {
          yield* this.isClosed(section)
          return count > 0 || (marker === undefined ? false : this.empty())
        }
        this.startCall()
        this.take(marker.length)
      } else this.startCall()
      if (yield* this.headedCall(section)) continue
      if (!this.call.isAnnounced) return false
      // The next call may be whole.
      this.isCut ||= (yield* this.peek()) === ''
      this.endCall(false)
      const marker = yield* this.until(section.stops, () => {})
      if (section.end.list.includes(marker)) this.take(marker.length)
    }
  }

  *headedCall(section) {
    const { call } = this
    let header = ''
    const separator = yield* this.until(section.separators, (text) => (header += text))
    const found = section.header.exec(header.trim())
    if (found === null || separator === undefined) return false
    call.name = found.groups.name
    if (found.groups.id !== undefined) call.id = found.groups.id
    if (section.isGuess && this.tools !== undefined && !this.tools.has(call.name)) return false
    this.announce()
    if (section.separator.list.includes(separator)) this.take(separator.length)
    if (!(yield* this.arguments(section))) return false
    this.endCall(true)
    if (section.end.list.length === 0) return true
    let isClean = true
    const end = yield* this.until(section.ends, (text) => (isClean &&= section.filler.test(text)))
    if (!isClean) this.addDamage('syntax')
    if (section.end.list.includes(end)) this.take(end.length)
    else this.addDamage('unclosed')
    return true
  }

  *arguments(section) {
    if (section.parameters !== undefined) return yield* this.parameters(section)
    yield* this.skip(SPACE)
    if ((yield* this.match(section.stops)) !== undefined) return true
    const next = yield* this.peek()
    if (section.dialect !== undefined)
      return next === '{' && (yield* literal(this, this.writeArguments, section.dialect))
    return next !== '' && (yield* json(this, this.writeArguments, section))
  }

  /** Arguments in tags: a key and a text, whose type the schema of the tool says. */
  *parameters(section) {
    const { parameters } = section
    const schema = this.tools?.get(this.call.name)
    this.writeArguments('{')
    for (let count = 0; ; count++) {
      let isClean = true
      const marker = yield* this.until(section.inCall, (text) => (isClean &&= section.filler.test(text)))
      if (!isClean) this.addDamage('syntax')
      if (!parameters.open.list.includes(marker)) {
        this.writeArguments('}')
        return marker !== undefined
      }
      this.take(marker.length)
      let name = ''
      const separator = yield* this.until(parameters.separator, (text) => (name += text))
      if (separator === undefined) return false
      this.take(separator.length)
      if (parameters.value !== undefined) {
        yield* this.skip(SPACE)
        const value = yield* this.match(parameters.value)
        if (value !== undefined) this.take(value.length)
      }
      this.writeArguments(`${count === 0 ? '' : ', '}${JSON.stringify(name.trim())}: `)
      const type = typeOf(schema, name.trim()) ?? parameters.types?.[this.written(separator)]
      if (!(yield* this.parameter(section, type))) return false
    }
  }

  *parameter({ parameters, afterValue }, type) {
    const text = parameterText(type, parameters.trims, this.writeArguments)
    for (;;) {
      const marker = yield* this.until(parameters.closers, text.write)
      if (marker === undefined) {
        text.end()
        return false
      }
      if (!parameters.close.list.includes(marker)) {
        // The next parameter or the end of the call, without the end of this value.
        text.end()
        this.addDamage('unclosed', { call: this.call.index })
        return true
      }
      // A marker of a value that is followed by text is text.
      this.take(marker.length)
      if (afterValue === undefined) break
      let space = ''
      while (/\s/.test(yield* this.peek())) space += this.take(1)
      if ((yield* this.peek()) === '' || (yield* this.match(afterValue)) !== undefined) break
      text.write(this.written(marker) + space)
    }
    text.end()
    return true
  }

  *python(section) {
    let isList = false
    for (let count = 0; ; ) {
      yield* this.skip(SEPARATORS)
      const next = yield* this.peek()
      const marker = yield* this.match(section.stops)
      if (next === '[' && !isList && count === 0 && marker === undefined) {
        this.take(1)
        isList = true
      } else if (next === ']' && isList && count > 0) {
        this.take(1)
        isList = false
        if (section.close.list.length === 0) return true
      } else if (marker !== undefined || next === '') {
        return (yield* this.isClosed(section)) && count > 0
      } else if (section.isGuess && !isList) return count > 0
      else {
        this.startCall()
        if (!(yield* this.pythonCall(section))) return false
        count++
      }
    }
  }

  *pythonCall(section) {
    const { call } = this
    call.name = yield* characters(this, NAME)
    yield* this.skip(SPACE)
    if (call.name === '' || (yield* this.peek()) !== '(') return false
    if (section.isGuess && this.tools !== undefined && !this.tools.has(call.name)) return false
    this.take(1)
    this.announce()
    const names = Object.keys(this.tools?.get(call.name)?.properties ?? {})
    this.writeArguments('{')
    for (let count = 0; ; count++) {
      yield* this.skip(SEPARATORS)
      if ((yield* this.peek()) === ')') break
      if (count > 0) this.writeArguments(', ')
      if (!(yield* this.keyword(section, names[count]))) return false
    }
    this.take(1)
    this.writeArguments('}')
    this.endCall(true)
    return true
  }

  /** One argument: `key=value`, or a value whose key its place says. */
  *keyword(section, name) {
    const key = yield* characters(this, NAME)
    yield* this.skip(SPACE)
    if (key !== '' && (yield* this.peek()) === '=') {
      this.take(1)
      this.writeArguments(`${JSON.stringify(key)}: `)
      return yield* literal(this, this.writeArguments, section.dialect)
    }
    if (name === undefined || key !== '') return false
    this.writeArguments(`${JSON.stringify(name)}: `)
    return yield* literal(this, this.writeArguments, section.dialect)
  }

  // --- answers ---

  *answer(startsIn) {
    const { format } = this
    if (format.messages !== undefined) yield* this.messages()
    else {
      if (startsIn === 'reasoning' && format.reasoning !== undefined) yield* this.reasoning('')
      yield* this.body()
    }
    yield* this.trailing()
  }

  *body() {
    const { format } = this
    let isStart = true
    const write = (text) => {
      if (isStart && text.trim() !== '') isStart = false
      this.write(text)
    }
    for (;;) {
      this.begin('text')
      this.open('text', false)
      const marker = yield* this.until(isStart ? format.first : format.top, write)
      if (marker === undefined) return this.close(false)
      const role = format.roles.get(marker)
      if (role.kind === 'guess' && role.section.isFirst && !isStart) {
        write(this.take(marker.length))
        continue
      }
      if (role.kind === 'end') {
        const text = yield* this.tag(marker)
        if (text !== '') {
          write(text)
          continue
        }
        this.close(false)
        return
      }
      if (role.kind === 'calls' || role.kind === 'guess') {
        isStart = false
        yield* this.section(role.section, marker)
      } else if (role.kind === 'reasoning') {
        this.close(true)
        yield* this.reasoning(marker)
      } else if (role.kind === 'skip') {
        this.close(true)
        this.begin('syntax')
        this.take(marker.length)
        this.sinks.text.lead = true
      } else this.stray(marker, role)
    }
  }

  /**
   * Without ids, a tag such as </s> ends an answer only at its end. Returns it as text, with the
   * white space after it, if it ends nothing.
   */
  *tag(marker) {
    if (this.controls.length > 0 || !/^<\/?\w+>$/.test(marker)) return ''
    let text = this.take(marker.length)
    while (/\s/.test(yield* this.peek())) text += this.take(1)
    return (yield* this.peek()) === '' ? '' : text
  }

  /** A closing marker without an opening one. */
  stray(marker, { kind }) {
    if (this.hasFailed && kind === 'callsEnd') {
      this.hasFailed = false
      this.write(this.take(marker.length))
      return
    }
    this.close(true)
    this.begin('syntax')
    this.take(marker.length)
    this.addDamage(kind === 'reasoningEnd' ? 'unopened' : 'marker', { marker: this.written(marker) })
    this.sinks.text.lead = true
  }

  *reasoning(opening) {
    const { reasoning } = this.format
    this.begin('reasoning')
    this.open('reasoning', true)
    this.take(opening.length)
    for (;;) {
      const marker = yield* this.until(reasoning.closers, this.write)
      const role = this.format.roles.get(marker)
      if (role?.kind === 'calls') {
        // A call ends the reasoning, unless it is none.
        yield* this.section(role.section, marker)
        if (this.sink === 'reasoning') continue
        this.addDamage('unclosed')
        return
      }
      if (reasoning.open.list.includes(marker)) {
        // Also in the prompt, or a text.
        const written = this.take(marker.length)
        if (!this.sinks.reasoning.lead) this.write(written)
        continue
      }
      this.close(marker !== undefined)
      if (reasoning.close.list.includes(marker)) this.take(marker.length)
      else {
        this.isCut ||= marker === undefined
        this.addDamage('unclosed')
      }
      break
    }
    this.open('text', true)
  }

  /** The end of the answer and what follows it. */
  *trailing() {
    const marker = yield* this.match(this.format.end)
    if (marker === undefined) return
    this.begin('syntax')
    this.take(marker.length)
    let hasText = false
    yield* this.until(this.format.none, (text) => (hasText ||= text.trim() !== ''))
    if (hasText) this.addDamage('trailing')
  }

  // --- harmony ---

  *messages() {
    const { messages } = this.format
    for (;;) {
      this.begin('syntax')
      let header = ''
      let marker
      for (;;) {
        marker = yield* this.until(messages.inHeader, (text) => (header += text))
        if (marker === undefined || marker === messages.message || messages.ends.list.includes(marker)) break
        header += this.take(marker.length)
      }
      if (marker === messages.message) {
        this.take(marker.length)
        marker = yield* this.message(header)
      } else if (header.trim() !== '') this.headless(header)
      if (marker === undefined) return
      if (messages.ends.list.includes(marker)) this.take(marker.length)
      else this.addDamage('unclosed')
    }
  }

  /** The content of a message. Returns the marker that ends it. */
  *message(header) {
    const { messages } = this.format
    const recipient = /\bto=([^\s<]+)/.exec(header)?.[1]
    const isCall = recipient !== undefined && recipient !== 'all' && recipient !== 'assistant'
    if (isCall) {
      this.part.type = 'toolCall'
      this.startCall()
      this.call.name = recipient.replace(/^functions\./, '')
      this.announce()
      const marker = yield* this.until(messages.inMessage, this.writeArguments)
      this.isCut ||= marker === undefined && valueOf(this.call.arguments) === undefined
      this.endCall(marker !== undefined || !this.isCut)
      return marker
    }
    const type = /<\|channel\|>\s*analysis/.test(header) ? 'reasoning' : 'text'
    this.part.type = type
    this.open(type, false)
    // Two messages of one kind are two lines.
    if (this.totals[type] !== '') this.emit('\n')
    const marker = yield* this.until(messages.inMessage, this.write)
    this.close(false)
    if (marker === undefined && type === 'reasoning') {
      this.isCut = true
      this.addDamage('unclosed')
    }
    return marker
  }

  /** A message without a header is text; a header without a message is kept in its part. */
  headless(header) {
    this.addDamage('header')
    if (header.includes('<|')) {
      this.isCut = true
      return
    }
    this.part.type = 'text'
    this.open('text', false)
    this.write(header)
    this.close(false)
  }
}

/** The value of a JSON text; undefined if it is none. */
function valueOf(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

module.exports = { Engine, valueOf }
