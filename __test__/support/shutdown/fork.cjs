// A child process with an IPC channel: both processes encode, and the child replies.
const { fork } = require('node:child_process')
const path = require('node:path')
const { Tokenizer } = require(path.join(__dirname, '../../../index.js'))

const gpt = Tokenizer.fromEncodingSync('r50k_base')
const rows = Array.from({ length: 300 }, (_, i) => `row ${i} ` + 'and so on '.repeat(50))
if (process.argv[2] === 'child') {
  process.on('message', async () => {
    const { length } = await gpt.encodeBatch(rows)
    process.send(length, () => process.disconnect())
  })
} else {
  const child = fork(__filename, ['child'])
  child.on('message', (length) => console.log(`child ${length}`))
  child.on('exit', (code) => (process.exitCode = code))
  gpt.encodeBatch(rows).then(() => child.send('encode'))
}
