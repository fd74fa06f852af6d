'use strict'

// Which text of a conversation the assistant wrote, in a template that does not say so.
//
// While a template is rendered, the trace notes turns: the stretch of the output that is written
// while one message is the current one of a loop. The answer of a message of the assistant is its
// turn without the generation prompt at its start:
//
//   <|im_start|>assistant\n   Hello<|im_end|>\n   <|im_start|>user\n …
//   prompt, not learned       answer, learned     turn of the next message
//
// Where a template only appends, this is what the rendering up to the answer, with a generation
// prompt, lacks. What the template writes after the last turn belongs to that turn. Text that the
// template takes from another message is not learned, and neither is text of the assistant in the
// turn of another message, such as the name of a function in the header of its result.
//
// The prompt can depend on the message before the answer: some templates write none after the
// result of a tool. What ends a turn can be written in the next one. So the conversation is
// rendered up to the first answer after each kind of message, and up to the first end of each kind
// of answer. These are few, so the cost stays linear.
//
// Text of messages that is in no turn, because the template has no loop over messages, has answers
// by its origin: from the prompt before it to the token that ends the turn.

const { TEMPLATE, messageOf } = require('@tokenlane/jinja/internal').origins

/** Maximum number of kinds of messages whose prompts are rendered. */
const MAX_KINDS = 8
/** Where a prompt may end early: templates open the reasoning of the next answer only. */
const PROMPT_ENDS = '\n>]:'
/** Maximum length of texts that are compared for each answer, in UTF-16 units. */
const MAX_LENGTH = 4096

/**
 * @typedef {{ start: number, end: number, message: number }} Stretch part of a text, of a message
 * @typedef {{ start: number, end: number, message: number }} Span part of a text that the assistant
 *   wrote, and the index of its message
 */

/**
 * The spans of the answers in a rendered conversation, in order. `render(messages, isPrompted)`
 * returns the text of a conversation, or undefined if the template refuses it. For a turn of which
 * only the origin is known, `endOf(from, next, prompt)` returns the end, or undefined: its text
 * ends at `from`, and the next turn starts at `next`, or before that with the prompt.
 *
 * @param {{ text: string, runs: number[], trace: any }} rendered
 * @param {{ messages: any[], isOpen: boolean, render: Function, endOf: Function }} request
 * @returns {Span[]}
 */
function answersOf(rendered, { messages, isOpen, render, endOf }) {
  const { text, runs, trace } = rendered
  const turns = [...trace.turns, ...looseTurns(runs, trace.turns)].sort((a, b) => a.start - b.start)
  const isAnswer = ({ message }) => messages[message].role === 'assistant'
  if (!turns.some(isAnswer)) return []
  const prompts = new Prompts(text, messages, render)
  const foreign = foreignStretches(runs, trace)
  const spans = []
  turns.forEach((turn, i) => {
    if (!isAnswer(turn)) return
    const next = turns[i + 1]?.start
    const holes = foreign.get(turn) ?? []
    const isLast = next === undefined && !isOpen
    const byRendering = () => (holes.length > 0 ? undefined : prompts.endingAt(turn, turn.end))
    const byOrigin = () => (turn.isLoose ? endOf(turn.end, next ?? text.length, prompts.usual) : undefined)
    const ending = isLast ? endOfLast(text, runs, turn) : (byRendering() ?? byOrigin())
    const start = turn.isLoose
      ? prompts.endBefore(turns[i - 1]?.end ?? 0, turn)
      : prompts.endIn(turn, firstOf(runs, turn))
    const span = { start, end: ending ?? turn.end }
    const parts = without(holes, span, ({ start: at }) => prompts.endingAt(turn, at) ?? at)
    spans.push(...parts.map((one) => ({ ...one, message: turn.message })))
  })
  return spans
}

/** Text of messages outside all turns: adjacent parts of one message are one. */
function looseTurns(runs, turns) {
  const loose = []
  let [start, at] = [0, 0]
  for (let i = 0; i < runs.length; start = runs[i], i += 2) {
    const message = messageOf(runs[i + 1])
    while (at < turns.length && turns[at].end <= start) at++
    if (message === -1 || (at < turns.length && turns[at].start < runs[i])) continue
    const last = loose.at(-1)
    // A turn between them divides them.
    if (last?.message === message && !(turns[at - 1]?.start >= last.end)) last.end = runs[i]
    else loose.push({ start, end: runs[i], message, isLoose: true })
  }
  return loose
}

/**
 * For each turn, the stretches in it that are of other messages: characters from them, or all that
 * is written in an inner loop while another message is the current one, if it has such characters.
 */
function foreignStretches(runs, { turns, blocks }) {
  const foreign = new Map()
  let [start, turnAt, blockAt] = [0, 0, 0]
  for (let i = 0; i < runs.length; start = runs[i], i += 2) {
    const message = messageOf(runs[i + 1])
    while (turnAt < turns.length && turns[turnAt].end <= start) turnAt++
    const turn = turns[turnAt]
    if (turn === undefined) break
    if (message === -1 || message === turn.message || runs[i] <= turn.start) continue
    while (blockAt < blocks.length && blocks[blockAt].end <= start) blockAt++
    const block = blocks[blockAt]
    const isInBlock = block !== undefined && block.start <= start && block.message !== turn.message
    const hole = isInBlock ? { start: block.start, end: block.end } : { start, end: runs[i] }
    const holes = foreign.get(turn) ?? []
    if (holes.length === 0) foreign.set(turn, holes)
    if (holes.at(-1)?.end >= hole.start) holes.at(-1).end = Math.max(holes.at(-1).end, hole.end)
    else holes.push(hole)
  }
  return foreign
}

/** A span without holes. The first hole starts behind what `endingAt` returns for it. */
function without(holes, { start, end }, endingAt) {
  const spans = []
  let from = start
  holes.forEach((hole, i) => {
    const to = i === 0 ? endingAt(hole) : hole.start
    if (to > from) spans.push({ start: from, end: to })
    from = Math.max(from, hole.end)
  })
  if (end > from) spans.push({ start: from, end })
  return spans
}

/** Where the first character of its message is in a turn, or undefined. */
function firstOf(runs, { start, end, message }) {
  let from = 0
  let [low, high] = [0, runs.length / 2]
  while (low < high) {
    const middle = (low + high) >> 1
    if (runs[2 * middle] <= start) low = middle + 1
    else high = middle
  }
  for (let i = 2 * low; i < runs.length; i += 2) {
    from = Math.max(start, i === 0 ? 0 : runs[i - 2])
    if (from >= end) return undefined
    if (messageOf(runs[i + 1]) === message) return from
  }
  return undefined
}

/** The end of the last turn: that of the text, unless text of the caller follows. */
function endOfLast(text, runs, turn) {
  for (let i = runs.length - 2; i >= 0 && runs[i] > turn.end; i -= 2) if (runs[i + 1] !== TEMPLATE) return turn.end
  return text.length
}

/** Templates end a message with calls, and start the one after it, in another way. */
const kindOf = ({ role, tool_calls: calls }) => `${role}${Array.isArray(calls) && calls.length > 0 ? ' calls' : ''}`

const QUESTION = [{ role: 'user', content: 'x' }]

/** The generation prompts of a template in one conversation. */
class Prompts {
  #text
  #messages
  #render
  /** By the kind of the message before. */
  #prompts = new Map()
  /** By the kinds of an answer and the message after it, what its ending has more or less. */
  #endings = new Map()

  constructor(text, messages, render) {
    this.#text = text
    this.#messages = messages
    this.#render = render
  }

  /** Where the prompt in a turn ends. `first` is where the text of the message starts. */
  endIn(turn, first) {
    const prompt = this.#before(turn)
    const { start, end } = turn
    if (prompt === '') return start
    if (start + prompt.length <= end && this.#text.startsWith(prompt, start)) return start + prompt.length
    const header = this.#text.slice(start, first ?? end)
    const length = matchedLength(header, prompt)
    if (length > 0) return start + length
    const body = header.trimStart()
    const inner = matchedLength(body, prompt.trimStart())
    return inner > 0 ? start + header.length - body.length + inner : (first ?? end)
  }

  /** Where the prompt ends that is between `from` and a turn that was told by its origin. */
  endBefore(from, { start }) {
    const prompt = this.usual
    const before = this.#text.slice(from, start)
    for (const sought of [prompt, prompt.slice(0, prompt.indexOf('\n') + 1)]) {
      const at = sought === '' || sought.length > MAX_LENGTH ? -1 : before.lastIndexOf(sought)
      if (at !== -1) return from + at + sought.length
    }
    return start
  }

  /**
   * Where an answer ends at about `at`, which is the end of its turn, or where text of another
   * message starts in it. Some templates write the end of a turn at the start of the next one, or
   * separate turns. Undefined if it cannot be told.
   */
  endingAt({ message }, at) {
    const kind = `${kindOf(this.#messages[message])} ${this.#messages[message + 1]?.role}`
    let ending = this.#endings.get(kind)
    if (ending === undefined) {
      if (this.#endings.size >= MAX_KINDS) return undefined
      const rendering = this.#render(this.#messages.slice(0, message + 1), false) ?? this.#text
      const length = rendering.length < this.#text.length && this.#text.startsWith(rendering) ? rendering.length : at
      ending = { more: this.#text.slice(at, length), less: this.#text.slice(length, at) }
      this.#endings.set(kind, ending)
    }
    const { more, less } = ending
    if (more.length + less.length > MAX_LENGTH) return undefined
    if (more !== '' && this.#text.startsWith(more, at)) return at + more.length
    return less !== '' && this.#text.endsWith(less, at) ? at - less.length : undefined
  }

  /** The prompt before the answer of a turn. */
  #before({ message, start }) {
    const before = this.#messages[message - 1]
    if (before === undefined) return this.usual
    const kind = kindOf(before)
    const prompt = this.#prompts.get(kind)
    if (prompt !== undefined) return prompt
    if (this.#prompts.size >= MAX_KINDS) return this.usual
    const rendered = this.#prompt(this.#messages.slice(0, message), start) ?? this.usual
    this.#prompts.set(kind, rendered)
    return rendered
  }

  /** The prompt after a question, for answers whose own prompt cannot be rendered. */
  get usual() {
    const usual = this.#prompts.get('') ?? this.#prompt(QUESTION, 0) ?? ''
    this.#prompts.set('', usual)
    return usual
  }

  /** The prompt after messages; if the text starts with them, the next turn starts at `start`. */
  #prompt(messages, start) {
    const prompted = this.#render(messages, true)
    if (prompted === undefined) return undefined
    if (start > 0 && prompted.length >= start && this.#text.startsWith(prompted.slice(0, start)))
      return prompted.slice(start)
    const without = this.#render(messages, false)
    return without !== undefined && prompted.startsWith(without) ? prompted.slice(without.length) : undefined
  }
}

/** How much of a prompt a text starts with, up to where a prompt may end early. */
function matchedLength(text, prompt) {
  const whole = prompt.trimEnd().length
  let length = 0
  while (length < text.length && length < prompt.length && text[length] === prompt[length]) length++
  if (length >= whole) return length
  while (length > 0 && !PROMPT_ENDS.includes(prompt[length - 1])) length--
  return length
}

module.exports = { answersOf }
