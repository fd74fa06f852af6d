// The commands of `npx tokenlane` that this package has. Each module loads when its command runs.
// The first argument of `corpus` and `train` can select a further command, such as `corpus merge`.

export const commands = {
  corpus: async (first) => (await import('./corpus.mjs')).corpusCommand(first),
  train: async (first) => (await import('./train.mjs')).trainCommand(first),
  worker: async () => (await import('./worker.mjs')).worker,
}
