// Batches that run and wait, and then whatever the argument says: how a process may end in the middle of them.
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
  // Nothing more happens: the batches end, then the process.
  forgotten: () => console.log('forgotten'),
  // A signal that is handled: the batches go on.
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
