'use strict'

// Limits of what a hub may send. Each is checked before or while data arrives, never when it is
// already in memory or on disk.

const MIB = 2 ** 20

module.exports = {
  /**
   * Bytes of one downloaded file, decompressed. Option `maxFileBytes`. The largest tokenizers have
   * about 40 MiB.
   */
  MAX_FILE_BYTES: 512 * MIB,
  /** Number of chat templates in separate files. Option `maxTemplates`. */
  MAX_TEMPLATES: 100,
  /** Bytes of tokenizer_config.json and all chat templates of one tokenizer together. */
  MAX_CHAT_BYTES: 32 * MIB,
  /** Decompressed bytes of all JSON pages of one request. */
  MAX_JSON_BYTES: 8 * MIB,
  /** Decompressed bytes of one JSON response. Pages of the real hub have at most a fifth of it. */
  MAX_JSON_ANSWER_BYTES: 2 * MIB,
  /** Pages of one listing. */
  MAX_PAGES: 20,
  /**
   * Characters of a template's file name. File systems allow 255 bytes, and temporary files have
   * longer names.
   */
  MAX_NAME_LENGTH: 200,
  MAX_REDIRECTS: 10,
  /**
   * Requests for one file that each return some of its bytes. Prevents endless retries with a
   * server that closes every connection.
   */
  MAX_REQUESTS_PER_FILE: 50,
  /** Concurrent lookups and downloads of this thread, over all calls. */
  MAX_CONCURRENT_FILES: 8,
  /** Bytes that must arrive within one timeout, unless the response ends earlier. */
  MIN_BYTES_PER_TIMEOUT: 16 * 1024,
  /** Bytes of a file in `refs`; it holds 40 hexadecimal digits. */
  MAX_REF_BYTES: 1024,
  /** Bytes of the file that `hf auth login` writes. */
  MAX_TOKEN_BYTES: 64 * 1024,
}
