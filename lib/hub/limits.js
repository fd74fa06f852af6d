'use strict'

// What a hub may send. Each limit is checked before or while data arrives, never after it is in memory or on the disk.

const MIB = 2 ** 20

/** Bytes of one downloaded file, decompressed. Option `maxFileBytes`. The largest tokenizers have about 40 MiB. */
const MAX_FILE_BYTES = 512 * MIB
/** Chat templates with files of their own. Option `maxTemplates`. */
const MAX_TEMPLATES = 100
/** Bytes of tokenizer_config.json and all chat templates of one tokenizer together. */
const MAX_CHAT_BYTES = 32 * MIB
/** Bytes of the JSON answers to one question, decompressed, over all pages. */
const MAX_JSON_BYTES = 8 * MIB
/** Bytes of one JSON answer, decompressed. A page of the real hub has a fifth of it at most. */
const MAX_JSON_ANSWER_BYTES = 2 * MIB
/** Pages of one listing. */
const MAX_PAGES = 20
/** Characters of a template's file name: file systems allow 255 bytes, and unfinished files have a longer name. */
const MAX_NAME_LENGTH = 200
const MAX_REDIRECTS = 10
/** Requests for one file, each of which got some of its bytes: what cuts every connection is not asked for ever. */
const MAX_REQUESTS_PER_FILE = 50
/** Files that are looked up or downloaded at once in this thread, by all calls together. */
const MAX_CONCURRENT_FILES = 8
/** Bytes that must arrive within one timeout, unless the answer ends before. */
const MIN_BYTES_PER_TIMEOUT = 16 * 1024
/** Bytes of a file in `refs`; it holds 40 hexadecimal digits. */
const MAX_REF_BYTES = 1024
/** Bytes of the file that `hf auth login` writes. */
const MAX_TOKEN_BYTES = 64 * 1024

module.exports = {
  MAX_FILE_BYTES,
  MAX_TEMPLATES,
  MAX_CHAT_BYTES,
  MAX_JSON_BYTES,
  MAX_JSON_ANSWER_BYTES,
  MAX_PAGES,
  MAX_NAME_LENGTH,
  MAX_REDIRECTS,
  MAX_REQUESTS_PER_FILE,
  MAX_CONCURRENT_FILES,
  MIN_BYTES_PER_TIMEOUT,
  MAX_REF_BYTES,
  MAX_TOKEN_BYTES,
}
