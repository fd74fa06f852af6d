// Starts batches that run and wait, and then ends the process in the way that the argument names.
const path = require('node:path')
const { Tokenizer } = require(path.join(__dirname, '../../../index.js'))

const rows = Array.from({ length: 2000 }, (_, i) => `the row number ${i}, ${'and so on '.repeat(200)}`)
const gpt = Tokenizer.fromEncodingSync('r50k_base')
const batches = Array.from({ length: 5 }, () => gpt.encodeBatch(rows))

const ENDS = {
  exit: () => process.exit(3),
  throw: () => {
    throw new Error('nobody catches this')
  },
  reject: () => Promise.reject(new Error('nobody catches this')),
  signal: () => process.kill(process.pid, 'SIGTERM'),
  // Nothing else happens: the batches end, then the process.
  forgotten: () => console.log('forgotten'),
  // The signal is handled, and the batches continue.
  handled: () => {
    process.on('SIGTERM', () => Promise.all(batches).then((all) => console.log(`handled ${all.length}`)))
    process.kill(process.pid, 'SIGTERM')
  },
  aborted: () => {
    const signal = AbortSignal.timeout(1)
    gpt.encodeBatch(rows, { signal }).then(
      () => console.log('too quick'),
      (error) => console.log(error.name),
    )
  },
}
setTimeout(ENDS[process.argv[2]], 10)
