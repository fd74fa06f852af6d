import path from 'node:path'

/** The file next to `corpus.npy` or `corpus.bin` with the starts of the rows. */
export function rowsFileOf(file) {
  const extension = path.extname(file)
  return `${file.slice(0, file.length - extension.length)}.rows${extension}`
}
