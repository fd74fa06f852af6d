// Ends the process while two batches run and four wait.
const path = require('node:path')
const { Tokenizer } = require(path.join(__dirname, '../../index.js'))

const rows = Array.from({ length: 3000 }, (_, i) => `the row number ${i}, ${'and so on '.repeat(300)}`)
const gpt = Tokenizer.fromEncodingSync('r50k_base')
for (let i = 0; i < 6; i++) gpt.encodeBatch(rows)
setTimeout(() => {
  console.log('leaving')
  process.exit(0)
}, 10)
