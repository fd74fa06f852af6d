// Answers of tokenlane for compare.py: reads a list of { folder, texts, rows, chat, template } and
// writes, for each folder, { ids, bare, pairs, decoded, skipped, chat, class, note }, or
// { refused } if it does not load, or { error } if a call fails.
//
//   usage: node tools/compare/model-folders/answers.mjs REQUESTS.json

import fs from 'node:fs'

import { Tokenizer } from '../../../index.mjs'

const answerOf = async ({ folder, texts, rows, chat, template: chatTemplate }) => {
  let tokenizer
  try {
    tokenizer = await Tokenizer.fromFile(folder)
  } catch (error) {
    return { refused: `${error.code}: ${error.message}` }
  }
  try {
    const { class: name, note } = tokenizer.source
    const ids = (options) => texts.map((text) => Array.from(tokenizer.encode(text, options).ids))
    return {
      class: name,
      note,
      ids: ids(),
      bare: ids({ addSpecialTokens: false }),
      pairs: texts.map((text) => Array.from(tokenizer.encode(text, { pair: texts[0] }).ids)),
      decoded: rows.map((row) => tokenizer.decode(row)),
      skipped: rows.map((row) => tokenizer.decode(row, { skipSpecialTokens: true })),
      chat: tokenizer.applyChatTemplate(chat, { chatTemplate, tokenize: false }),
    }
  } catch (error) {
    return { error: `${error.code}: ${error.message}` }
  }
}

const answers = []
for (const request of JSON.parse(fs.readFileSync(process.argv[2], 'utf8'))) answers.push(await answerOf(request))
process.stdout.write(JSON.stringify(answers))
