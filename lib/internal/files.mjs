// What @tokenlane/corpus uses of lib/files/, with which commands of this package read and write.
// Not for users: it changes without notice, and both packages have the same version.

export { crc32 } from '../files/crc32.mjs'
export { decompressed } from '../files/decompress.mjs'
export { isOfRow, withoutFailures } from '../files/failing-rows.mjs'
export { Failure, bareCode, fileFailure } from '../files/failure.mjs'
export { HEAD_BYTES, checkName, foreignFailure, isForeign, notForeign } from '../files/foreign.mjs'
export { Gatherer } from '../files/gather.mjs'
export { isGlob } from '../files/glob.mjs'
export { inOrder } from '../files/in-order.mjs'
export {
  MAX_FILE_ROW_BYTES,
  MAX_JSON_ROW_BYTES,
  asUtf8Failure,
  endOfString,
  checkFinite,
  fieldFailure,
  fieldProblem,
  finiteJson,
  isBlank,
  parseJson,
  utf8Failure,
  valueAt,
} from '../files/json-rows.mjs'
export { codecOf, isTable } from '../files/magic.mjs'
export { NumberFile } from '../files/npy.mjs'
export {
  ROW_BYTES,
  VALUE_BYTES,
  checkCodec,
  checkEncoding,
  checkSizes,
  parquetCompressors,
  startOf,
} from '../files/parquet-codecs.mjs'
export { checkPackages } from '../files/parquet.mjs'
export {
  isGone,
  partOf,
  removeDeadParts,
  removeOldParts,
  removeOwnParts,
  renamePart,
  thisProcess,
} from '../files/parts.mjs'
export { MAX_RATIO, Ratio } from '../files/ratio.mjs'
export { TEMPORARY_VARIABLE, inScratch, newScratch, removeScratch, removeScratchNow } from '../files/scratch.mjs'
export { behindLinks, realPathIfThere, statIfThere } from '../files/stat.mjs'
export {
  loadTokenizer,
  openTokenizer,
  repositoryOf,
  sourceOf,
  tokenizerFiles,
  usualSpecialTokens,
} from '../files/tokenizers.mjs'
export { Walk, linesOf, pathMatcher } from '../files/walk.mjs'
export { BLOCK_HEADER, MAX_FRAME_HEADER, blockHeader, frameHeader } from '../files/zstd-headers.mjs'
