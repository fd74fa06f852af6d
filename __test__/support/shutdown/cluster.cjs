// Three processes of a cluster, each of which encodes and disconnects.
const cluster = require('node:cluster')
const path = require('node:path')

if (cluster.isPrimary) {
  const lengths = []
  for (let i = 0; i < 3; i++) {
    cluster.fork().on('message', (length) => lengths.push(length))
  }
  cluster.on('exit', (_, code) => (process.exitCode ||= code))
  process.on('exit', () => console.log(lengths.join(' ')))
} else {
  const { Tokenizer } = require(path.join(__dirname, '../../../index.js'))
  const gpt = Tokenizer.fromEncodingSync('r50k_base')
  gpt.encodeBatch(Array.from({ length: 300 }, (_, i) => `row ${i} ` + 'and so on '.repeat(50))).then(({ length }) => {
    process.send(length, () => cluster.worker.disconnect())
  })
}
