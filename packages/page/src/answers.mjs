// The answers of the page's API. They use nothing of Node.js: the page of a static site gives them
// itself, over @tokenlane/web.

import { LOOK, charactersOf, describe, hex, tokensPerLine, tokensWithin } from 'tokenlane/internal/tokens.mjs'
import { costs } from './languages.mjs'

/** Maximum length of the drawn part of a text, in UTF-16 units. */
const MAX_DRAWN_UNITS = 3000
/** Maximum number of bars in the chart. More lines share bars. */
const MAX_BARS = 120
/** Maximum number of messages of a chat, and of ids to decode. */
const MAX_MESSAGES = 1000
const MAX_IDS = 200_000
/** Maximum number of tokenizers that users open; all stay in memory. */
const MAX_OPENED = 20
/** Maximum length of the name of an opened tokenizer, in UTF-16 units. */
const MAX_NAME = 200

/** The message of an error, and the status of the response. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/**
 * The answers by method and name.
 *
 * @param {object} choice
 * @param {readonly string[]} choice.names of the tokenizers that the page offers; the first two are
 *   selected
 * @param {(name: string) => Promise<import('tokenlane').Tokenizer>} choice.load
 * @param {string} [choice.text] the initial text of the page
 * @param {readonly string[]} [choice.local] the names that links leave out
 * @param {(bytes: Uint8Array) => Promise<import('tokenlane').Tokenizer>} [choice.openFile]
 * @param {(name: string) => Promise<import('tokenlane').Tokenizer>} [choice.openRepository]
 * @returns {Record<string, (body?: any) => any>}
 */
export function answersOf({ names: given, load, text, local: paths = [], openFile, openRepository }) {
  const [names, local] = [[...given], [...paths]]
  const loaded = new Map()
  const tokenizerOf = (name) => {
    if (!names.includes(name)) throw new Refusal(404, 'there is no such tokenizer')
    if (!loaded.has(name)) {
      const loading = load(name)
      loaded.set(name, loading)
      // A failed load is tried again on the next request.
      loading.catch(() => loaded.delete(name))
    }
    return loaded.get(name)
  }

  /** Opens a tokenizer that the user chose, and returns its name. */
  async function open({ repository, name, bytes }) {
    const isFile = bytes !== undefined
    const [what, opener] = isFile ? [name, openFile] : [repository, openRepository]
    if (typeof what !== 'string' || what === '' || what.length > MAX_NAME || (isFile && !(bytes instanceof Uint8Array)))
      throw new Refusal(400, 'name a file or a repository to open')
    if (opener === undefined) throw new Refusal(404, 'this page opens no such tokenizers')
    if (!isFile && names.includes(what) && !local.includes(what)) return { name: what }
    if (names.length - given.length >= MAX_OPENED)
      throw new Refusal(400, `${MAX_OPENED} tokenizers are open: start the page again for others`)
    let tokenizer
    try {
      tokenizer = await opener(isFile ? bytes : what)
    } catch (failure) {
      throw failure.status === undefined ? new Refusal(422, failure.message) : failure
    }
    const unique = uniqueOf(what, names)
    loaded.set(unique, tokenizer)
    names.push(unique)
    if (isFile) local.push(unique)
    return { name: unique }
  }

  return {
    'GET tokenizers': () => ({
      names: [...names],
      shown: [names[0], names[1] ?? names[0]],
      text,
      local: [...local],
      opens: { file: openFile !== undefined, repository: openRepository !== undefined },
    }),
    'POST open': open,
    'POST tokens': async (body) => tokens(await tokenizerOf(body.tokenizer), body),
    'POST ids': async (body) => [...(await inputOf(await tokenizerOf(body.tokenizer), body)).encoding.ids],
    'POST languages': async (body) => costs(await tokenizerOf(body.tokenizer)),
  }
}

/** The name, or with a number behind it the first one that is free. */
function uniqueOf(name, names) {
  let unique = name
  for (let number = 2; names.includes(unique); number++) unique = `${name} (${number})`
  return unique
}

/**
 * The text of a request and its encoding. A text is encoded as it is; a chat is rendered by the
 * template of the tokenizer; ids are decoded.
 *
 * @param {any} tokenizer
 * @param {{ mode?: string, text?: string, messages?: any, ids?: any }} body
 * @returns {Promise<{ text: string, encoding: any, messages?: (number | undefined)[] }>}
 */
async function inputOf(tokenizer, { mode = 'text', text, messages, ids }) {
  if (mode === 'chat') return chatOf(tokenizer, messages)
  if (mode === 'ids') return decodedOf(tokenizer, ids)
  if (mode !== 'text' || typeof text !== 'string') throw new Refusal(400, 'text must be a string')
  const batch = await tokenizer.encodeBatch([text], { ...LOOK, columns: ['specialTokensMask'] })
  const { offsets, specialTokensMask } = batch
  const encoding = { ids: batch.ids.slice(), offsets: offsets.slice(), specialTokensMask: specialTokensMask.slice() }
  batch.dispose?.()
  return { text, encoding }
}

function chatOf(tokenizer, messages) {
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES)
    throw new Refusal(400, `messages must be a list of at most ${MAX_MESSAGES}`)
  const options = { addGenerationPrompt: true }
  const pieces = tokenizer.applyChatTemplate(messages, { ...options, tokenize: false, pieces: true })
  const { ids, offsets } = tokenizer.applyChatTemplate(messages, options)
  const text = pieces.map((piece) => piece.text).join('')
  const encoding = { ids, offsets, specialTokensMask: new Uint32Array(ids.length) }
  return { text, encoding, messages: messagesOf(pieces, offsets) }
}

/** The index of the message that each token starts in; undefined for text of the template. */
function messagesOf(pieces, offsets) {
  const messages = []
  let piece = 0
  let end = pieces[0]?.text.length ?? 0
  for (let token = 0; 2 * token < offsets.length; token++) {
    while (piece + 1 < pieces.length && offsets[2 * token] >= end) end += pieces[++piece].text.length
    messages.push(pieces[piece]?.message)
  }
  return messages
}

function decodedOf(tokenizer, ids) {
  if (!Array.isArray(ids) || ids.length > MAX_IDS)
    throw new Refusal(400, `ids must be a list of at most ${MAX_IDS} whole numbers`)
  const wrong = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= 2 ** 32)
  if (wrong !== -1) throw new Refusal(400, `ids[${wrong}] is no id, which is a whole number below 2^32`)
  const list = Uint32Array.from(ids)
  const { text, offsets } = tokenizer.decodeWithOffsets(list)
  return { text, encoding: { ids: list, offsets, specialTokensMask: new Uint32Array(list.length) } }
}

/**
 * Returns the counts of the whole text, and the tokens of the part that is drawn; or why there are
 * none.
 */
async function tokens(tokenizer, body) {
  const { at = 0, mode = 'text' } = body
  if (!Number.isSafeInteger(at) || at < 0) throw new Refusal(400, 'at must be a position in the text')
  let input
  try {
    input = await inputOf(tokenizer, body)
  } catch (failure) {
    // The tokenizer cannot do this; others can.
    if (mode === 'text' || failure.status !== undefined || !/^ERR_TOKENLANE/.test(failure.code)) throw failure
    return refusalOf(tokenizer, body, failure)
  }
  const { text, encoding, messages } = input
  const start = at < text.length ? at : 0
  const end = start + MAX_DRAWN_UNITS < text.length ? start + MAX_DRAWN_UNITS : Infinity
  const shown = describe(tokenizer, text, encoding, ...tokensWithin(encoding, start, end))
  return {
    count: encoding.ids.length,
    characters: charactersOf(text),
    bytes: new TextEncoder().encode(text).length,
    start,
    end: Math.min(end, text.length),
    step: MAX_DRAWN_UNITS,
    // The page has the text itself, unless a template or a decoder made it.
    ...(mode === 'text' ? {} : { text }),
    tokens: shown.map(({ text: _, bytes, ...token }) => ({
      ...token,
      bytes: hex(bytes),
      ...(messages !== undefined && { message: messages[token.index] ?? null }),
    })),
    lines: bars(tokensPerLine(text, encoding)),
  }
}

/** Why no tokens are drawn; for chats of OpenAI's models, with the number of their tokens. */
function refusalOf(tokenizer, { mode, messages }, failure) {
  if (mode === 'chat' && failure.code === 'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING') {
    try {
      return {
        count: tokenizer.countChat(messages),
        refused:
          "Counted by OpenAI's rules. How its models write a chat is not public, so there is no text to draw: choose a tokenizer with a chat template.",
      }
    } catch {
      // Its own message says more.
    }
  }
  return { refused: failure.message }
}

/** Adds up the counts of adjacent lines, so that there are at most `MAX_BARS` bars. */
function bars(counts) {
  const per = Math.ceil(counts.length / MAX_BARS)
  const sums = Array.from({ length: Math.ceil(counts.length / per) }, (_, bar) =>
    counts.slice(bar * per, (bar + 1) * per).reduce((sum, count) => sum + count, 0),
  )
  return { total: counts.length, per, counts: sums }
}
