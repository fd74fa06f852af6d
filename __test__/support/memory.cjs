// Prints one value in MiB: the memory in the case that the argument names.
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

  /**
   * Memory that the kernel clears for a large text after an equally large one: the median of nine.
   */
  again(gpt) {
    const text = 'a1 b2 c3 '.repeat(2 ** 18)
    const cleared = Array.from({ length: 10 }, (_, i) => {
      const before = process.resourceUsage().minorPageFault
      if (gpt.encode(`${i}${text}`).offsets.length === 0) throw new Error('there are tokens')
      return (process.resourceUsage().minorPageFault - before) * 4096
    })
    return mib(cleared.slice(1).sort((a, b) => a - b)[4])
  },
}

;(async () => {
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 1000 }, (_, i) => `${i} ${'a b c d '.repeat(400)}`)
  console.log(await cases[process.argv[2]](gpt, rows))
})()
