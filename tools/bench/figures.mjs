// The list of measurements, and the statistics of their samples.

const OFFSETS = ['utf16']
const SHORT_CHARACTERS = 20
const LONG_CHARACTERS = 2048

/** The jobs of `worker.mjs` for these tokenizers and corpora. */
export function figures(tokenizers, corpora) {
  return tokenizers.flatMap(({ name, source }) => {
    const job = (kind, more) => ({ name, kind, tokenizer: source, ...more })
    const single = (characters, count) => job('single', { corpus: corpora[0].file, characters, count })
    return [
      job('load'),
      job('streams', { corpus: corpora[0].file }),
      ...corpora.flatMap(({ file }) => [
        ...[false, ...OFFSETS].map((offsets) => job('batch', { corpus: file, threads: 1, offsets })),
        job('batch', { corpus: file, threads: 2, offsets: false }),
        job('batch', { corpus: file, threads: 1, count: true }),
        job('decode', { corpus: file }),
        job('loop', { corpus: file }),
      ]),
      ...[SHORT_CHARACTERS, LONG_CHARACTERS].flatMap((characters) => [
        single(characters, false),
        single(characters, true),
      ]),
    ]
  })
}

/** The key of a job in the samples. */
export function key({ tokenizer, ...job }) {
  return JSON.stringify(job)
}

/**
 * Returns a function that reads the median, minimum and maximum of one field of a job's results.
 */
export function reader(samples) {
  return (job, field) => {
    const values = samples.get(key(job)).map((sample) => sample[field])
    return spread(values)
  }
}

/** Reads all figures of one tokenizer on one corpus. */
export function row(read, { name }, { file }) {
  const batch = (more) => ({ name, kind: 'batch', corpus: file, threads: 1, ...more })
  const perCpu = (job) => read(job, 'perCpuSecond')
  const two = { ...batch({ offsets: false }), threads: 2 }
  return {
    ids: perCpu(batch({ offsets: false })),
    offsets: OFFSETS.map((offsets) => perCpu(batch({ offsets }))),
    count: perCpu(batch({ count: true })),
    decode: perCpu({ name, kind: 'decode', corpus: file }),
    oneThread: read(batch({ offsets: false }), 'perSecond'),
    twoThreads: read(two, 'perSecond'),
    stop: read({ name, kind: 'loop', corpus: file }, 'stop'),
  }
}

/** Reads the calls per second of one tokenizer, one text per call. */
export function singles(read, { name }, { file }) {
  const job = (characters, count) => ({ name, kind: 'single', corpus: file, characters, count })
  return [SHORT_CHARACTERS, LONG_CHARACTERS].flatMap((characters) =>
    [false, true].map((count) => ({
      what: `${count ? 'count' : 'encode'}, ${characters === LONG_CHARACTERS ? '2 KB' : `${characters} characters`}`,
      fresh: read(job(characters, count), 'fresh'),
      again: read(job(characters, count), 'again'),
    })),
  )
}

/** Median, minimum and maximum. */
export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  return { median, least: sorted[0], most: sorted.at(-1) }
}
