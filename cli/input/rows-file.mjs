import path from 'node:path'

/** The file beside `corpus.npy` or `corpus.bin` that says where rows start. */
export function rowsFileOf(file) {
  const extension = path.extname(file)
  return `${file.slice(0, file.length - extension.length)}.rows${extension}`
}
