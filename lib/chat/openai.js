'use strict'

// The chats of the bundled encodings: harmony for gpt-oss, whose text is public, and numbers of
// tokens for OpenAI's other models, as far as OpenAI documents them (openai-documented.js).

const { error, wrongType, wrongValue } = require('../errors.js')
const { later } = require('../later.js')
const { checkKnown } = require('../options.js')

const CHAT_ENCODINGS = ['cl100k_base', 'o200k_base']
/** What countChat does with other tokenizers too, and always with these. */
const ALWAYS = { addGenerationPrompt: true, content: 'text' }
const OPENAI_OPTIONS = ['tools', 'model', 'imageSize', ...Object.keys(ALWAYS)]

/** Loaded on first use: most programs that load an encoding never render or count chats. */
const modules = later({
  chat: () => require('./chat.js'),
  conversation: () => require('./conversation.js'),
  harmony: () => require('./harmony.js'),
  documented: () => require('./openai-documented.js'),
  shapes: () => require('./shapes.js'),
})

/** The chat of gpt-oss. */
class HarmonyChat {
  format = { kind: 'harmony' }
  parts = { isHarmony: true }

  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return modules.chat.chatOf().render(messages, options, trace)
    return modules.harmony.render(messages, options, trace)
  }
}

class OpenAiChat {
  /** How @tokenlane/requests counts the chats of this encoding. */
  format

  constructor(encoding, model) {
    this.format = { kind: 'openai', encoding, model }
  }

  get parts() {
    return this.render([])
  }

  render(messages, options = {}, trace = undefined) {
    if (options?.chatTemplate !== undefined) return modules.chat.chatOf().render(messages, options, trace)
    throw error(
      'ERR_TOKENLANE_CHAT_TEMPLATE_MISSING',
      `${this.format.encoding} has no chat template, because OpenAI does not say which text a chat becomes; countChat ` +
        'counts its tokens, and the option chatTemplate renders a template of yours',
    )
  }

  /** The number of tokens of messages and tools. `countOf` returns that of a text. */
  count(messages, options = {}, countOf) {
    checkKnown(options, OPENAI_OPTIONS)
    const rules = openAiRules(this.format, options)
    const chat = openAiChatOf(messages, options)
    return modules.documented.countDocumented(chat.messages, chat.tools, rules, countOf)
  }
}

/**
 * The encoding, the model and the function for the sizes of images by which a chat is counted, all
 * checked. `format` is that of its tokenizer.
 *
 * @param {{ encoding: string, model?: string }} format
 * @param {{ model?: any, imageSize?: any }} options
 */
function openAiRules({ encoding, model: loadedFor }, { model, imageSize }) {
  if (!CHAT_ENCODINGS.includes(encoding)) {
    const message = `OpenAI documents no rule for chats in ${encoding}, only in ${CHAT_ENCODINGS.join(' and ')}`
    throw error('ERR_TOKENLANE_CHAT_TEMPLATE_MISSING', message)
  }
  if (model !== undefined) checkModel(model, encoding)
  if (imageSize !== undefined && typeof imageSize !== 'function') throw wrongType('imageSize', 'a function', imageSize)
  return { encoding, model: model ?? loadedFor, imageSize }
}

/** The messages and the tools of chat completions, checked and copied. */
function openAiChatOf(messages, options) {
  for (const [name, value] of Object.entries(ALWAYS)) {
    if (options[name] !== undefined && options[name] !== value)
      throw wrongValue(name, `${JSON.stringify(value)}, which holds for OpenAI's API`, options[name])
  }
  const { checkList, checkMessages, refuseAiSdk, withoutNulls } = modules.conversation
  const checked = checkMessages(messages)
  refuseAiSdk(checked)
  modules.shapes.chatMessages(checked, 'messages')
  const tools = checkList('tools', options.tools)
  modules.shapes.chatTools(tools, 'tools')
  return { messages: checked.map(withoutNulls), tools }
}

function checkModel(model, encoding) {
  const { encodingForModel } = require('../models.js')
  const own = encodingForModel(model)
  if (own !== encoding) throw wrongValue('model', `a model of ${encoding} (this is one of ${own})`, model)
}

/** The chat of a bundled encoding. `model` is the model that it was loaded for, if there is one. */
const openAiChat = (encoding, model) =>
  encoding === 'o200k_harmony' ? new HarmonyChat() : new OpenAiChat(encoding, model)

module.exports = { OPENAI_OPTIONS, HarmonyChat, openAiChat, openAiChatOf, openAiRules }
