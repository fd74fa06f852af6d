'use strict'

// What the functions of a class (classes/index.js) can read: the config, its special tokens, and
// the ids of tokens.

const { error } = require('../errors.js')
const { template } = require('./components.js')

class Given {
  #config
  #specials
  #tokens
  #file

  /**
   * @param {any} config of config-tokens.js
   * @param {Record<string, { content: string }>} specials by name
   * @param {{ idOf(token: string): number | undefined, tokenOf(id: number): string | undefined,
   *   vocabularyIdOf(token: string): number | undefined }} tokens
   * @param {any} [file] the tokenizer.json without its vocabulary
   */
  constructor(config, specials, tokens, file = {}) {
    this.#config = config
    this.#specials = specials
    this.#tokens = tokens
    this.#file = file
  }

  /** The charsmap of the file's normalizer, as transformers looks for it, or undefined. */
  get charsmap() {
    const { normalizer } = this.#file
    const all = normalizer?.type === 'Sequence' ? normalizer.normalizers : [normalizer]
    return all.find((one) => one?.type === 'Precompiled')?.precompiled_charsmap ?? undefined
  }

  get fileHasPost() {
    return this.#file.post_processor !== null
  }

  get isPaddedLeft() {
    return this.#config.padding_side === 'left'
  }

  /** The same without a field of the config. */
  without(name) {
    return new Given({ ...this.#config, [name]: undefined }, this.#specials, this.#tokens, this.#file)
  }

  unusable(name, what) {
    return error('ERR_TOKENLANE_SHAPE', `tokenizer_config.json: ${name} ${what}`)
  }

  /** A flag; `null` is the default, which can be `null` too. */
  flag(name, byDefault) {
    const value = this.#config[name] ?? byDefault
    if (value !== null && typeof value !== 'boolean') throw this.unusable(name, 'must be true or false')
    return value
  }

  text(name, byDefault) {
    const value = this.#config[name] ?? byDefault
    if (value !== undefined && typeof value !== 'string') throw this.unusable(name, 'must be a string')
    return value
  }

  count(name, byDefault) {
    const value = this.#config[name] ?? byDefault
    if (!Number.isInteger(value) || value < 0 || value > MAX_COUNT)
      throw this.unusable(name, `must be a whole number up to ${MAX_COUNT}`)
    return value
  }

  /**
   * The template with the tokens that add_bos_token and add_eos_token ask for. transformers ignores
   * these fields beside a tokenizer.json.
   */
  edges(addsBos = false) {
    const edge = (flag, name, byDefault) => (this.flag(flag, byDefault) && this.has(name) ? [this.content(name)] : [])
    const [bos, eos] = [edge('add_bos_token', 'bos_token', addsBos), edge('add_eos_token', 'eos_token', false)]
    const typed = [...bos, '$B', ...eos].map((part) => [part, 1])
    return this.template([...bos, '$A', ...eos], [...bos, '$A', ...eos, ...typed])
  }

  has(name) {
    return this.#specials[name] !== undefined
  }

  /** The content of a special token. */
  content(name) {
    const content = this.#specials[name]?.content
    if (content === undefined) throw this.unusable(name, 'is missing')
    return content
  }

  /** The content as Python spells it where there is none. */
  spelling(name) {
    return this.has(name) ? this.content(name) : 'None'
  }

  /**
   * A special token as [content, id]; `byDefault` is the id that the class has for a missing one.
   *
   * @returns {[string, number]}
   */
  token(name, byDefault = undefined) {
    if (!this.has(name) && byDefault !== undefined) return [this.spelling(name), byDefault]
    const content = this.content(name)
    return [content, this.id(content)]
  }

  /** The id of a token, or that of the unknown token. */
  id(content) {
    const unknown = this.#specials.unk_token?.content
    const id = this.#tokens.idOf(content) ?? (unknown === undefined ? undefined : this.#tokens.idOf(unknown))
    if (id === undefined) throw this.unusable(JSON.stringify(content), 'is not a token')
    return id
  }

  /** The token that stands for a content: itself, or the unknown token. */
  known(content) {
    return this.spelled(this.id(content))
  }

  spelled(id) {
    const token = this.#tokens.tokenOf(id)
    if (token === undefined) throw this.unusable('a special token', `has the id ${id}, which no token has`)
    return token
  }

  /** The id of a special token in the vocabulary without added tokens, or undefined. */
  vocabularyId(name) {
    return this.#tokens.vocabularyIdOf(this.spelling(name))
  }

  /** Like vocabularyId, but the vocabulary must have the token. */
  inVocabulary(name) {
    const id = this.vocabularyId(name)
    if (id === undefined) throw this.unusable(name, 'is not in the vocabulary')
    return id
  }

  /**
   * The id of the unknown token if its score is 0, which is the score of special pieces, or
   * undefined.
   */
  unknownId() {
    const id = this.vocabularyId('unk_token')
    const isSpecial = this.#file.added_tokens?.some(({ content }) => content === this.spelling('unk_token'))
    return id === this.#file.model?.unk_id || isSpecial ? id : undefined
  }

  /**
   * A TemplateProcessing of parts, each '$A', '$B' or a token, with its type id unless that is 0.
   *
   * @param {(string | [string, number])[]} single
   * @param {(string | [string, number])[]} pair
   * @param {[string, number][]} [known] tokens whose ids are known
   */
  template(single, pair, known = []) {
    /** @type {(part: string | [string, number]) => [string, number]} */
    const typed = (part) => (typeof part === 'string' ? [part, 0] : part)
    const [one, two] = [single.map(typed), pair.map(typed)]
    /** @type {(part: [string, number]) => boolean} */
    const isToken = ([name]) => name !== '$A' && name !== '$B'
    const given = new Map(known)
    const ids = new Map([...one, ...two].filter(isToken).map(([name]) => [name, given.get(name) ?? this.id(name)]))
    return template(one, two, ids)
  }
}

/** The largest number of sentinels or other numbered tokens. */
const MAX_COUNT = 100_000

module.exports = { Given }
