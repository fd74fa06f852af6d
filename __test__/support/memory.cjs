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

  /** 400 tokenizers of some hundred tokens, each used once. */
  async small() {
    const open = (number) => Tokenizer.fromBuffer(Buffer.from(JSON.stringify(smallTokenizer(number))))
    const used = [(await open(0)).count('a first text')]
    const before = rss()
    const kept = []
    for (let number = 1; number <= 400; number++) kept.push(await open(number))
    for (const tokenizer of kept) used.push(tokenizer.count('A text, and the words in it: '.repeat(8)))
    if (used.some((tokens) => tokens === 0)) throw new Error('there are tokens')
    return rss() - before
  },
}

/** A tokenizer.json of bytes and of the pairs of twelve letters; no two are the same file. */
function smallTokenizer(number) {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const isPrintable = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
  const others = bytes.filter((byte) => !isPrintable(byte))
  const character = (byte) => String.fromCodePoint(isPrintable(byte) ? byte : 256 + others.indexOf(byte))
  const letters = [...'etaoinshrdlu']
  const merges = letters.flatMap((left) => letters.map((right) => [left, right]))
  const tokens = [...bytes.map(character), ...merges.map((pair) => pair.join('')), `<${number}>`]
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
  return {
    version: '1.0',
    added_tokens: [],
    pre_tokenizer: byteLevel,
    decoder: byteLevel,
    model: { type: 'BPE', vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges },
  }
}

;(async () => {
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  const rows = Array.from({ length: 1000 }, (_, i) => `${i} ${'a b c d '.repeat(400)}`)
  console.log(await cases[process.argv[2]](gpt, rows))
})()
