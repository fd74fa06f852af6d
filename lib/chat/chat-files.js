'use strict'

// Reads tokenizer_config.json and the chat templates in the folder of a tokenizer, in the layout
// that transformers writes and that the hub has.

const fs = require('node:fs')
const path = require('node:path')

const { error } = require('../errors.js')
const { parseConfig } = require('../model/config-json.js')
const { isAbsence, readRegular, readRegularSync } = require('../regular-file.js')
const { BrokenChat, chatOf } = require('./chat.js')

const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const MORE = 'additional_chat_templates'

/** Bytes of the config and all templates together. hub/limits.js has the same limit. */
const MAX_CHAT_BYTES = 32 * 2 ** 20
/** Entries of the folder `additional_chat_templates`. */
const MAX_ENTRIES = 1000

/**
 * The chat of the files in a tokenizer's folder. An error in these files only affects chat calls,
 * so the tokenizer itself loads.
 */
async function loadChat(file) {
  try {
    const { config, templates } = await readChatFiles(file)
    return chatOf(config, templates)
  } catch (failure) {
    return new BrokenChat(failure)
  }
}

/**
 * Reads { config, templates } from a tokenizer's folder. `templates` has templates by name, which
 * have precedence over those of the config, or is undefined if there are none.
 */
async function readChatFiles(file) {
  const texts = new Texts()
  const folder = path.dirname(file)
  const more = await fs.promises.opendir(path.join(folder, MORE)).catch(absent)
  for (const name of filesOf(await namesIn(more)))
    texts.add(name, await readRegular(path.join(folder, name), texts.left).catch(absent))
  return texts.contents()
}

/** Like loadChat, but synchronous. */
function loadChatSync(file) {
  try {
    const texts = new Texts()
    const folder = path.dirname(file)
    const more = unlessAbsent(() => fs.opendirSync(path.join(folder, MORE)))
    for (const name of filesOf(namesInSync(more))) {
      texts.add(
        name,
        unlessAbsent(() => readRegularSync(path.join(folder, name), texts.left)),
      )
    }
    const { config, templates } = texts.contents()
    return chatOf(config, templates)
  } catch (failure) {
    return new BrokenChat(failure)
  }
}

async function namesIn(folder) {
  const names = []
  // The iteration closes the folder.
  if (folder !== undefined) for await (const { name } of folder) push(names, name, folder)
  return names
}

function namesInSync(folder) {
  const names = []
  try {
    for (let entry = folder?.readSync(); entry; entry = folder.readSync()) push(names, entry.name, folder)
  } finally {
    folder?.closeSync()
  }
  return names
}

function push(names, name, folder) {
  if (names.push(name) > MAX_ENTRIES)
    throw error('ERR_TOKENLANE_FILE_TOO_LARGE', `cannot read ${folder.path}: it has more than ${MAX_ENTRIES} files`)
}

/** The paths of the config and of all templates, relative to the folder. */
function filesOf(more) {
  const templates = more.filter((name) => name.endsWith('.jinja')).sort()
  return [CONFIG, TEMPLATE, ...templates.map((name) => path.join(MORE, name))]
}

/** Returns undefined if the file does not exist, and throws other failures. */
function absent(failure) {
  if (isAbsence(failure)) return undefined
  throw failure
}

function unlessAbsent(work) {
  try {
    return work()
  } catch (failure) {
    return absent(failure)
  }
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
    const text = bytes.toString()
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

function configOf(text) {
  const config = parseConfig(text)
  if (typeof config !== 'object' || config === null) throw new Error(`${CONFIG} is not an object`)
  return config
}

module.exports = { loadChat, loadChatSync, readChatFiles }
