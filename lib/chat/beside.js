'use strict'

// A tokenizer_config.json and templates that lie beside a tokenizer, as in the folders that transformers saves and the hub has.

const fs = require('node:fs')
const path = require('node:path')

const { BrokenChat, chatOf } = require('./chat.js')

const CONFIG = 'tokenizer_config.json'
const TEMPLATE = 'chat_template.jinja'
const MORE = 'additional_chat_templates'
const FILES = [CONFIG, TEMPLATE]

async function chatBeside(file) {
  const folder = path.dirname(file)
  const more = await fs.promises.readdir(path.join(folder, MORE)).catch(() => [])
  const names = namesOf(more)
  const texts = await Promise.all(names.map((name) => fs.promises.readFile(path.join(folder, name), 'utf8').catch(absent)))
  return chatOfTexts(names, texts)
}

function chatBesideSync(file) {
  const folder = path.dirname(file)
  const attempt = (work) => {
    try {
      return work()
    } catch (failure) {
      return absent(failure)
    }
  }
  const names = namesOf(attempt(() => fs.readdirSync(path.join(folder, MORE))) ?? [])
  return chatOfTexts(names, names.map((name) => attempt(() => fs.readFileSync(path.join(folder, name), 'utf8'))))
}

const namesOf = (more) => [...FILES, ...(Array.isArray(more) ? more : []).filter((name) => name.endsWith('.jinja')).map((name) => path.join(MORE, name))]

/** Nothing where there is no file; what else is wrong with it is told when it is needed. */
function absent(failure) {
  return ['ENOENT', 'ENOTDIR'].includes(failure.code) ? undefined : failure
}

/** Files with templates count for more than those in the config. What is wrong is only wrong for chats. */
function chatOfTexts(names, texts) {
  try {
    const failure = texts.find((text) => text instanceof Error)
    if (failure !== undefined) throw failure
    const [config, template, ...more] = texts
    const templates = Object.fromEntries(more.map((text, i) => [path.basename(names[i + FILES.length], '.jinja'), text]))
    if (template !== undefined) templates.default = template
    return chatOf(configOf(config), Object.keys(templates).length === 0 ? undefined : templates)
  } catch (failure) {
    return new BrokenChat(failure)
  }
}

function configOf(text) {
  const config = text === undefined ? {} : JSON.parse(text)
  if (typeof config !== 'object' || config === null) throw new Error(`${CONFIG} holds no object`)
  return config
}

module.exports = { chatBeside, chatBesideSync }
