// Prints one figure in MiB: how memory behaves in the case that the argument names.
const path = require('node:path')
const { setImmediate: turn } = require('node:timers/promises')
const { Tokenizer } = require(path.join(__dirname, '../../index.js'))

const mib = (bytes) => Math.round(bytes / 2 ** 20)
const rss = () => mib(process.memoryUsage().rss)

const cases = {
  async collected(gpt, rows) {
    let before
    for (let i = 0; i < 120; i++) {
      await gpt.encodeBatch(rows)
      if (i % 10 === 9) globalThis.gc()
      await turn()
      if (i === 39) before = rss()
    }
    return rss() - before
  },
  'never-yields'(gpt, rows) {
    for (let i = 0; i < 100; i++) gpt.encodeBatchSync(rows)
    return rss()
  },
  async disposed(gpt, rows) {
    let before
    for (let i = 0; i < 60; i++) {
      const batch = await gpt.encodeBatch(rows)
      batch.dispose()
      await turn()
      if (i === 19) before = rss()
    }
    return rss() - before
  },
}

;(async () => {
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 1000 }, (_, i) => `${i} ${'a b c d '.repeat(400)}`)
  console.log(await cases[process.argv[2]](gpt, rows))
})()
