'use strict'

// PreTrainedTokenizer of @huggingface/transformers: a function object with the tokenizer's methods.

const { boundedArray, named } = require('tokenlane/internal/dropins/bounded.js')
const { error, typeError } = require('tokenlane/internal/dropins/errors.js')
const { chatOf } = require('tokenlane/internal/transformers.js')
const { Trace, bare } = require('@tokenlane/jinja/internal').origins
const { Backend, list } = require('./backend.js')
const { call } = require('./call.js')
const { Loaded } = require('./loaded.js')
const { isTensor, whenInstalled } = require('./tensor.js')

const SPECIAL = { mask: [], pad: ['eos_token'], sep: [], unk: [], bos: [], eos: [] }

/** A function that passes its arguments to its method `_call`. */
class Callable {
  constructor() {
    /** @type {any} */
    const callable = (...args) => callable._call(...args)
    // biome-ignore lint/correctness/noConstructorReturn: a tokenizer is a function.
    return Object.setPrototypeOf(callable, new.target.prototype)
  }
}
Object.setPrototypeOf(Callable.prototype, Function.prototype)

// Tokenizers are instances of the class of the installed package too, whose tokenizers are no
// instances of Function.
whenInstalled(({ PreTrainedTokenizer: original }) => {
  if (typeof original !== 'function') return
  const { apply, bind, call, toString } = Function.prototype
  for (const method of [apply, bind, call, toString])
    Object.defineProperty(Callable.prototype, method.name, { value: method, writable: true, configurable: true })
  Object.setPrototypeOf(Callable.prototype, original.prototype)
})

class PreTrainedTokenizer extends Callable {
  return_token_type_ids = false
  padding_side = 'right'
  #special

  constructor(tokenizerJSON, tokenizerConfig) {
    super()
    if (typeof tokenizerConfig !== 'object' || tokenizerConfig === null)
      throw typeError('tokenizerConfig must be an object')
    const isLoaded = tokenizerJSON instanceof Loaded
    const backend = isLoaded ? tokenizerJSON.backend : Backend.fromJson(tokenizerJSON, tokenizerConfig)
    this._tokenizer = backend
    this.config = tokenizerConfig
    this.padding_side = tokenizerConfig.padding_side ?? this.padding_side
    for (const [name, others] of Object.entries(SPECIAL)) {
      const token = tokenOf(tokenizerConfig, `${name}_token`, ...others)
      this[`${name}_token`] = token
      this[`${name}_token_id`] = backend.token_to_id(token)
    }
    this.chat_template = templateOf(
      (isLoaded ? tokenizerJSON.templates : undefined) ?? tokenizerConfig.chat_template ?? null,
    )
  }

  static async from_pretrained(pretrained_model_name_or_path, options) {
    const { json, config } = await require('./files.js').load(pretrained_model_name_or_path, options)
    return new this(json, config)
  }

  get _tokenizerJSON() {
    return this._tokenizer.engine.toJSON()
  }

  get _tokenizerConfig() {
    return this.config
  }

  get all_special_ids() {
    return this.#specialTokens.ids
  }

  get all_special_tokens() {
    return this.#specialTokens.contents
  }

  get #specialTokens() {
    if (this.#special === undefined) {
      const tokens = [...this._tokenizer.get_added_tokens_decoder().values()].filter(({ special }) => special)
      this.#special = { ids: tokens.map(({ id }) => id), contents: tokens.map(({ content }) => content) }
    }
    return this.#special
  }

  get model_max_length() {
    return this.config.model_max_length ?? Infinity
  }

  get add_eos_token() {
    return this.config.add_eos_token
  }

  get add_bos_token() {
    return this.config.add_bos_token
  }

  get_vocab() {
    return this._tokenizer.get_vocab()
  }

  convert_tokens_to_ids(tokens) {
    const idOf = (token) => this._tokenizer.token_to_id(token)
    return typeof tokens === 'string' ? idOf(tokens) : boundedArray(tokens, 'tokens').map(idOf)
  }

  _call(text, options) {
    return call(this, text, options ?? {})
  }

  _encode_text(text) {
    return text === null ? null : this._tokenizer.tokenize(text, { add_special_tokens: true })
  }

  tokenize(text, { pair = null, add_special_tokens = false } = {}) {
    return this._tokenizer.tokenize(text, { text_pair: pair, add_special_tokens })
  }

  encode(text, { text_pair = null, add_special_tokens = true } = {}) {
    return list(this._tokenizer.encodeOne(text, text_pair, add_special_tokens).ids)
  }

  batch_decode(batch, decode_args = {}) {
    const rows = isTensor(batch) ? batch.tolist() : batch
    return boundedArray(rows, 'batch').map((row) => this.decode(row, decode_args))
  }

  decode(token_ids, decode_args = {}) {
    return this.decode_single(isTensor(token_ids) ? idsOfTensor(token_ids) : token_ids, decode_args)
  }

  decode_single(token_ids, { skip_special_tokens = false, clean_up_tokenization_spaces = null } = {}) {
    return this._tokenizer.decode(token_ids, { skip_special_tokens, clean_up_tokenization_spaces })
  }

  get_chat_template({ chat_template = null, tools = null } = {}) {
    const own = this.chat_template
    if (typeof own !== 'object' || own === null) {
      if (chat_template ?? own) return chat_template ?? own
      throw error(
        'CHAT_TEMPLATE_MISSING',
        'Cannot use apply_chat_template() because tokenizer.chat_template is not set and no template argument was passed',
      )
    }
    if (chat_template !== null)
      return typeof chat_template === 'string' && Object.hasOwn(own, chat_template) ? own[chat_template] : chat_template
    if (tools !== null && Object.hasOwn(own, 'tool_use')) return own.tool_use
    if (Object.hasOwn(own, 'default')) return own.default
    const names = Object.keys(own).sort()
    throw error(
      'CHAT_TEMPLATE_MISSING',
      `This model has the chat templates ${names} and no default: pass one, or its name, as chat_template`,
    )
  }

  apply_chat_template(conversation, options = {}) {
    const {
      tools = null,
      documents = null,
      chat_template = null,
      add_generation_prompt = false,
      continue_final_message = false,
      tokenize = true,
      padding = false,
      truncation = false,
      max_length = null,
      return_tensor = true,
      return_dict = true,
      return_assistant_tokens_mask = false,
      tokenizer_kwargs = {},
      ...variables
    } = options
    const source = this.get_chat_template({ chat_template, tools })
    if (typeof source !== 'string') throw typeError(`chat_template must be a string, but got ${typeof source}`)
    const trace = return_assistant_tokens_mask ? new Trace() : undefined
    if (trace !== undefined) checkMask(options)
    const string = chatOf(this.config, {}).render(
      conversation,
      {
        tools,
        documents,
        chatTemplate: source,
        addGenerationPrompt: Boolean(add_generation_prompt),
        continueFinalMessage: continue_final_message,
        variables,
      },
      trace,
    )
    const rendered = bare(string)
    if (!tokenize) return rendered
    const lengths = { padding, truncation, max_length, return_tensor }
    const all = { add_special_tokens: false, ...lengths, ...tokenizer_kwargs }
    if (trace !== undefined) return call(this, rendered, all, trace.generations)
    const result = this._call(rendered, all)
    return return_dict ? result : result.input_ids
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    const { model_max_length, padding_side } = this
    return `${this.constructor.name} { vocabSize: ${this._tokenizer.engine.vocabSize()}, model_max_length: ${model_max_length}, padding_side: '${padding_side}' }`
  }
}

/**
 * Throws for options with which Python's transformers has no mask, or this class has none.
 *
 * @param {any} options
 */
function checkMask({ tokenize = true, return_dict = true, continue_final_message, tokenizer_kwargs }) {
  const refuse = (why) => error('ARGUMENT_VALUE', `return_assistant_tokens_mask ${why}`)
  if (!tokenize || !return_dict) throw refuse('needs tokenize and return_dict')
  if (continue_final_message) throw refuse('does not go with continue_final_message')
  if (tokenizer_kwargs?.text_pair !== undefined || tokenizer_kwargs?.add_special_tokens)
    throw refuse('does not go with text_pair and add_special_tokens')
}

/** The first of some special tokens that a config names, or null. */
function tokenOf(config, ...names) {
  const token = names.map((name) => config[name]).find((one) => one)
  if (token === undefined) return null
  const content = typeof token === 'object' ? token.content : token
  if (typeof content !== 'string') throw typeError(`Unknown token: ${named(token)}`)
  return content
}

/** A chat template, or an object of templates by their names. */
function templateOf(value) {
  if (typeof value !== 'object' || value === null) return value
  const entries = Array.isArray(value)
    ? boundedArray(value).map((one) => [one?.name, one?.template])
    : Object.entries(value)
  if (!entries.flat().every((one) => typeof one === 'string')) {
    throw typeError('Chat template must be a list of objects with "name" and "template" properties')
  }
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

/** The ids of a tensor that has one row. */
function idsOfTensor(tensor) {
  const { dims } = tensor
  if (dims.length === 1) return tensor.tolist()
  if (dims.length !== 2) throw error('TENSOR_SHAPE', `Expected tensor to have 1-2 dimensions, got ${dims.length}.`)
  if (dims[0] === 1) return tensor.tolist()[0]
  throw error(
    'TENSOR_SHAPE',
    'Unable to decode tensor with `batch size !== 1`. Use `tokenizer.batch_decode(...)` for batched inputs.',
  )
}

module.exports = { PreTrainedTokenizer, idsOfTensor }
