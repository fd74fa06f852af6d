// Renders the template in a file and prints how it ended: { code, limit, length, ms, mib }.
//
//   node hostile-template-child.mjs FILE [messages]

import fs from 'node:fs'

import { Tokenizer } from '../../index.mjs'

const [file, count = '1'] = process.argv.slice(2)
const tokenizer = Tokenizer.fromFileSync(new URL('../testdata/chat/tokenizer.json', import.meta.url))
const messages = Array.from({ length: Number(count) }, (_, i) => ({
  role: i % 2 ? 'assistant' : 'user',
  content: `message ${i}`,
}))
const options = {
  chatTemplate: fs.readFileSync(file, 'utf8'),
  variables: { twice: (value) => [value, value] },
  tokenize: false,
}

const outcome = {}
try {
  outcome.length = tokenizer.applyChatTemplate(messages, options).length
} catch (error) {
  Object.assign(outcome, { code: error.code, limit: error.limit, message: error.message })
}
const { user, system } = process.cpuUsage()
outcome.ms = Math.round((user + system) / 1000)
outcome.mib = Math.round(process.resourceUsage().maxRSS / 1024)
console.log(JSON.stringify(outcome))
