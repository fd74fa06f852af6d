'use strict'

// Changes the tokenizer of a tokenizer.json to the one that AutoTokenizer of transformers 5 makes
// of its folder: the class that the configs name builds it again or uses the file, and the configs
// add tokens.

const { isDeepStrictEqual } = require('node:util')

const native = require('../native.js')
const { BACKEND, autoClass, isPython } = require('./auto-class.js')
const { addedTokens, configOf, specialTokens, textsOf, withFlags } = require('./config-tokens.js')
const { classes } = require('./classes/index.js')
const { decoders } = require('./components.js')
const { Given } = require('./given.js')
const { needsPattern, withPattern } = require('./mistral.js')

/** The class that uses the components of the file. */
const FILE = { tokens: {}, usesFile: true }

const COMPONENTS = [
  ['normalizer', 'normalizer'],
  ['pre_tokenizer', 'preTokenizer'],
  ['post_processor', 'postProcessor'],
  ['decoder', 'decoder'],
]

/**
 * @param {any} handle the tokenizer of the file
 * @param {Record<string, any>} configs by name
 * @param {string} [repository] its name, if it was loaded from the hub
 * @returns {{ handle: any, specials?: object, class?: string, note?: string,
 *   splitsSpecialTokens?: true }} the special tokens by name, the class of transformers, what
 *   differs from its tokenizer, and whether special tokens are text
 */
function fromConfigs(handle, configs, repository) {
  const bytes = native.components(handle)
  // A tekken.json, which transformers reads in another way.
  if (bytes === null || bytes === undefined) return { handle }
  const file = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  const tokenizer = configs['tokenizer_config.json']
  const { class: known, ...more } = configs.sentencePiece ?? {}
  /** @type {{ name: string, isRemote?: boolean }} */
  const chosen =
    known !== undefined
      ? { name: known }
      : autoClass({
          tokenizer,
          model: configs['config.json'],
          name: repository,
          hasByteLevel: () =>
            COMPONENTS.some(([name]) => JSON.stringify(file[name]).includes('"ByteLevel"')) ||
            native.tokenToId(handle, 'ByteLevel') !== null,
        })
  const folder = new Folder(handle, file, configs, more)
  const { made, note } = folder.as(chosen)
  return {
    handle: made,
    specials: folder.specials,
    class: chosen.isRemote ? tokenizer.tokenizer_class : chosen.name,
    ...(note !== undefined && { note }),
    ...(folder.splitsSpecialTokens && { splitsSpecialTokens: true }),
  }
}

class Folder {
  /** The texts of the special tokens by name, once the tokenizer is built. */
  specials = {}
  #handle
  #file
  #model
  #config
  /** Whether the file has only the vocabulary of a SentencePiece model. */
  #isBuilt

  constructor(handle, file, configs, more) {
    this.#handle = handle
    this.#file = file
    this.#model = configs['config.json']
    this.#isBuilt = more.additional !== undefined
    // transformers ignores these fields beside a tokenizer.json.
    const ignored = this.#isBuilt ? {} : { add_bos_token: undefined, add_eos_token: undefined }
    this.#config = { ...configOf(configs, file.added_tokens), ...ignored, ...more }
  }

  /** The tokenizer of a class, or of the file with the config's tokens if it is not built here. */
  as({ name, isRemote = false }) {
    const reason = isRemote ? 'the class is code of the repository' : this.#reasonAgainst(name)
    if (reason === undefined) return { made: this.#built(name === BACKEND ? FILE : classes[name]) }
    return { made: this.#built(FILE), note: `the file with the tokens of the configs: ${reason}` }
  }

  /** Why a class is not built here, or undefined. */
  #reasonAgainst(name) {
    if (name === BACKEND || name === 'ParakeetTokenizer') return undefined
    if (isPython(name)) return `${name} does not use tokenizer.json in transformers`
    const found = classes[name]
    if (found === undefined) return `transformers builds ${name} again, tokenlane does not`
    if (found.usesFile) return undefined
    const { type, continuing_subword_prefix: prefix, end_of_word_suffix: suffix } = this.#file.model
    if (type !== found.model) return `${name} is for a model of the type ${found.model}, the file has ${type}`
    if (type === 'BPE' && ((prefix ?? '') !== '' || (suffix ?? '') !== (found.suffix ?? '')))
      return `the merges of the file have another prefix or suffix than those of ${name}`
    if (found.needs?.some((token) => this.#vocabularyIdOf(token) !== undefined) === false)
      return `${name} adds tokens to the vocabulary, which tokenlane does not`
    return undefined
  }

  #built(found) {
    const config = { ...this.#config }
    // The file's padding names the pad token where neither class nor config does.
    const tokens = { pad_token: this.#file.padding?.pad_token, ...found.tokens }
    const specials = specialTokens({ tokens, wrapped: found.wrapped }, config)
    config.named = { ...found.named, ...config.named }
    this.specials = textsOf(specials, config.named)
    const given = this.#givenOf(config, specials, this.#handle)
    config.extra ??= found.extra?.(given, config.additional)
    const list = addedTokens(config, specials, this.#knownTo(found))
    const parts = found.usesFile ? {} : found.parts(given)
    const changed = this.#changed(parts, [...list, ...again(found, config, specials)], found)
    // The two flags replace what is the file's for other classes.
    const hasEdges = this.#isBuilt && found.keepsPost && (config.add_bos_token ?? config.add_eos_token) !== undefined
    const byEdges = hasEdges || (this.#isBuilt && found.post === undefined)
    const makePost = byEdges ? (edged) => edged.edges() : found.post
    if (makePost === undefined || (found.keepsPost && this.#file.post_processor !== null)) return changed
    const post = makePost(this.#givenOf(config, specials, changed))
    if (isDeepStrictEqual(post, this.#file.post_processor)) return changed
    return native.change(changed, { ...NO_CHANGES, postProcessor: JSON.stringify(post) })
  }

  /** The contents of the file's added tokens, which a class keeps if it uses the file. */
  #knownTo(found) {
    return new Set(found.usesFile ? this.#file.added_tokens.map(({ content }) => content) : [])
  }

  #changed(parts, tokens, found) {
    const { model, ...components } = parts
    const decoder = this.#cleanedUp(components.decoder === undefined ? this.#file.decoder : components.decoder)
    const wanted = { ...components, decoder, pre_tokenizer: this.#fixed(components.pre_tokenizer) }
    /** @type {Record<string, any>} */
    const changes = { ...NO_CHANGES, ...this.#tokenChanges(tokens, found.usesFile === true) }
    for (const [name, option] of COMPONENTS) {
      if (wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], this.#file[name]))
        changes[option] = JSON.stringify(wanted[name])
    }
    const settings = model && {
      ...(this.#file.model.type === 'BPE' && { dropout: null, ignore_merges: false }),
      ...model,
    }
    const differs = ([name, value]) => !isDeepStrictEqual(this.#file.model[name] ?? null, value)
    if (settings !== undefined && Object.entries(settings).some(differs)) changes.model = JSON.stringify(settings)
    // transformers truncates and pads only on request.
    changes.noTruncation = this.#file.truncation !== null
    changes.noPadding = this.#file.padding !== null
    if (this.splitsSpecialTokens) changes.specialTokens = 'text'
    return isDeepStrictEqual(changes, NO_CHANGES) ? this.#handle : native.change(this.#handle, changes)
  }

  /** The pre-tokenizer with the pattern of Mistral, if the config asks for it. */
  #fixed(preTokenizer = this.#file.pre_tokenizer) {
    const fixes = isTrue(this.#config.fix_mistral_regex)
    const vocabSize = native.vocabSize(this.#handle, true)
    const isFixed = preTokenizer !== null && needsPattern({ fixes, model: this.#model, vocabSize })
    return isFixed ? withPattern(preTokenizer) : preTokenizer
  }

  get splitsSpecialTokens() {
    return isTrue(this.#config.split_special_tokens)
  }

  /** The added tokens that differ from those of the file. */
  #tokenChanges(tokens, usesFile) {
    const before = this.#file.added_tokens.map(({ id, ...token }) => token)
    const wanted = tokens.map(({ id, ...token }) => token)
    if (usesFile) {
      const known = new Map(before.map((token) => [token.content, token]))
      const added = wanted.filter((token) => !isDeepStrictEqual(known.get(token.content), token))
      return { addedTokens: added.map(asChange) }
    }
    const last = [...new Map(wanted.map((token) => [token.content, token])).values()]
    if (isDeepStrictEqual(last, before)) return {}
    return { addedTokens: wanted.map(asChange), replacesAddedTokens: true }
  }

  /** The decoder with the replacements that transformers makes in decoded text. */
  #cleanedUp(decoder) {
    const {
      clean_up_tokenization_spaces: clean,
      clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output: always,
    } = this.#config
    if (!isTrue(clean) || (this.#file.model.type === 'BPE' && !isTrue(always))) return decoder
    return decoders.sequence([
      decoder ?? decoders.joined,
      decoders.fuse,
      ...CLEANED.map(([from, to]) => decoders.replace(from, to)),
    ])
  }

  #givenOf(config, specials, handle) {
    const named = Object.entries(config.named).map(([name, token]) => [name, { content: token.content ?? token }])
    const tokens = {
      idOf: (token) => native.tokenToId(handle, token) ?? undefined,
      tokenOf: (id) => native.idToToken(handle, id) ?? undefined,
      vocabularyIdOf: (token) => this.#vocabularyIdOf(token),
    }
    return new Given(config, { ...Object.fromEntries(named), ...specials }, tokens, this.#file)
  }

  /** Added tokens that are not in the vocabulary have ids after it. */
  #vocabularyIdOf(token) {
    const id = native.tokenToId(this.#handle, token) ?? undefined
    const size = native.vocabSize(this.#handle, false)
    return id !== undefined && id >= size && this.#file.added_tokens.some(({ content }) => content === token)
      ? undefined
      : id
  }
}

/** Python's idea of a true value, for the values of JSON. */
const isTrue = (value) =>
  Boolean(value) && !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)

/** The special tokens that a class adds a second time. */
function again(found, config, specials) {
  if (found.again === undefined) return []
  const all = [...Object.values(specials), ...Object.values(config.named), ...(config.extra ?? config.additional ?? [])]
  if (found.again === 'plain') return all.map((token) => withFlags(tokenOfText(token.content ?? token), true))
  return all.map((token) =>
    withFlags(typeof token === 'string' ? tokenOfText(token) : { ...tokenOfText(''), ...token }, true),
  )
}

const tokenOfText = (content) => ({
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: undefined,
  special: true,
})

const asChange = ({ content, special, single_word: singleWord, lstrip, rstrip, normalized }) => ({
  content,
  special,
  singleWord,
  lstrip,
  rstrip,
  normalized,
})

const NO_CHANGES = Object.freeze({
  addedTokens: [],
  noTruncation: false,
  noPadding: false,
  specialTokensAreText: false,
})

/** clean_up_tokenization of transformers, in its order. */
const CLEANED = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
]

module.exports = { fromConfigs }
