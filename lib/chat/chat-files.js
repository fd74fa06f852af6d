'use strict'

// Reads tokenizer_config.json and the chat templates in the folder of a tokenizer, in the layout
// that transformers writes and that the hub has.

const fs = require('node:fs')
const path = require('node:path')

const { error } = require('../errors.js')
const { parseConfig, utf8Of } = require('../model/config-json.js')
const { isAbsence, readRegular, readRegularSync } = require('../regular-file.js')
const { step } = require('../steps.js')
const { BrokenChat, chatOf } = require('./chat.js')

const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const MORE = 'additional_chat_templates'

/** Bytes of the config and all templates together. hub/limits.js has the same limit. */
const MAX_CHAT_BYTES = 32 * 2 ** 20
/** Entries of the folder `additional_chat_templates`. */
const MAX_ENTRIES = 1000

/**
 * The chat of the files in a tokenizer's folder, as work of lib/steps.js. An error in these files
 * only affects chat calls, so the tokenizer itself loads.
 */
function* chatBeside(file) {
  try {
    const { config, templates } = yield* chatFilesBeside(file)
    return chatOf(config, templates)
  } catch (failure) {
    return new BrokenChat(failure)
  }
}

/**
 * { config, templates } of a tokenizer's folder, as work of lib/steps.js. `templates` has templates
 * by name, which have precedence over those of the config, or is undefined if there are none.
 */
function* chatFilesBeside(file) {
  const texts = new Texts()
  const folder = path.dirname(file)
  const place = path.join(folder, MORE)
  const more = yield* ifThere(
    () => fs.readdirSync(place),
    () => fs.promises.readdir(place),
  )
  if (more?.length > MAX_ENTRIES)
    throw error('ERR_TOKENLANE_FILE_TOO_LARGE', `cannot read ${place}: it has more than ${MAX_ENTRIES} files`)
  for (const name of filesOf(more ?? [])) {
    const [whole, { left }] = [path.join(folder, name), texts]
    texts.add(
      name,
      yield* ifThere(
        () => readRegularSync(whole, left),
        () => readRegular(whole, left),
      ),
    )
  }
  return texts.contents()
}

/** The result of a step; undefined if the file does not exist. */
function* ifThere(now, later) {
  try {
    return yield step(now, later)
  } catch (failure) {
    if (isAbsence(failure)) return undefined
    throw failure
  }
}

/** The paths of the config and of all templates, relative to the folder. */
function filesOf(more) {
  const templates = more.filter((name) => name.endsWith('.jinja')).sort()
  return [CONFIG, TEMPLATE, ...templates.map((name) => path.join(MORE, name))]
}

/** The contents of the files. Separate template files have precedence over the config. */
class Texts {
  /** The number of bytes that the remaining files may have. */
  left = MAX_CHAT_BYTES
  #config = {}
  #template
  #templates = new Map()

  add(name, bytes) {
    if (bytes === undefined) return
    this.left -= bytes.length
    const text = textOf(name, bytes)
    if (path.dirname(name) === MORE) this.#templates.set(path.basename(name, '.jinja'), text)
    else if (name === CONFIG) this.#config = configOf(text)
    else this.#template = text
  }

  contents() {
    if (this.#templates.size === 0) return { config: this.#config, templates: this.#template }
    if (this.#template !== undefined && !this.#templates.has('default')) this.#templates.set('default', this.#template)
    return { config: this.#config, templates: Object.fromEntries(this.#templates) }
  }
}

function textOf(name, bytes) {
  try {
    return utf8Of(bytes)
  } catch (cause) {
    throw new Error(`${name}: ${cause.message}`, { cause })
  }
}

function configOf(text) {
  const config = parseConfig(text)
  if (typeof config !== 'object' || config === null) throw new Error(`${CONFIG} is not an object`)
  return config
}

module.exports = { chatBeside, chatFilesBeside }
