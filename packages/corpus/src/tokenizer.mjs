// Finds the tokenizer of a job, once, and identifies it by the SHA-256 of its file and of the
// configs that change it.

import { createHash } from 'node:crypto'
import path from 'node:path'

import { fileFailure, statIfThere, sourceOf, usualSpecialTokens } from 'tokenlane/internal/files.mjs'
import { encodingPath, maxId, modules, native, openRegular, readRegular, run } from 'tokenlane/internal/corpus.js'
import { error, contradiction, unsupported } from './errors.mjs'
import { ROW_FORMATS } from './formats/names.mjs'
import { MAX_IDS } from './tokens.mjs'

/** Maximum size in bytes of a tokenizer_config.json. */
const MAX_CONFIG_BYTES = 32 << 20
/** Number of bytes of a file that are read at once. */
const READ_BYTES = 1 << 20
/** Files that are loaded together with other files of their folder. */
const PART = /^(?:vocab\.(?:json|txt)|merges\.txt)$/
/** Rank files whose class and special tokens are in the configs, unless an encoding is named. */
const RANKS = /^(?:tiktoken\.model|qwen\.tiktoken)$/

/**
 * Tokens that start or end a document in well-known vocabularies, for tokenizers without a
 * tokenizer_config.json.
 */
const USUAL_TOKENS = {
  eos: ['<|endoftext|>', '<|end_of_text|>', '</s>', '<eos>', '<|im_end|>', '[SEP]'],
  bos: ['<|begin_of_text|>', '<s>', '<bos>', '<|startoftext|>', '[CLS]'],
}

/**
 * @typedef {object} TokenizerSource
 * @property {string} name as it was given
 * @property {'file' | 'encoding' | 'hub'} kind
 * @property {string} [file]
 * @property {string} [repository] the name of a repository of the hub
 * @property {string} [encoding] of a rank file, or the bundled encoding if there is no file
 * @property {boolean} [hasConfigs] whether the configs beside the file belong to the tokenizer
 * @property {string} sha256 of the file, followed by the configs
 */

/**
 * Finds a tokenizer by its name.
 *
 * @param {string} name
 * @param {string} [encoding]
 * @returns {Promise<TokenizerSource>}
 */
export async function findTokenizer(name, encoding) {
  return identify(name, sourceOf(name, encoding))
}

/**
 * Finds the file of a source, and its SHA-256.
 *
 * @param {string} name for messages
 * @param {ReturnType<typeof sourceOf>} source
 * @returns {Promise<TokenizerSource>}
 */
export async function identify(name, source) {
  if (source.repository !== undefined) {
    const { pretrainedFile } = modules.pretrained
    const { pretrainedOptions } = modules.hubOptions
    const { request } = pretrainedOptions(source.repository, { revision: source.revision })
    const found = await identified(name, path.dirname(await pretrainedFile(request)))
    return { name, kind: 'hub', repository: source.repository, ...found }
  }
  if (source.file === undefined) {
    const file = encodingPath(native.encodingFile(source.encoding))
    return { name, kind: 'encoding', encoding: source.encoding, sha256: await sha256Of([file]) }
  }
  const found = await identified(name, path.resolve(source.file), source.encoding)
  return { name, kind: 'file', encoding: source.encoding, ...found }
}

/** The file of a tokenizer, whether configs belong to it, and the SHA-256 of both. */
async function identified(name, place, encoding = undefined) {
  const { file, hasConfigs } = await wholeFile(name, place, encoding)
  const configs = hasConfigs ? modules.modelFolder.CONFIGS.map((one) => path.join(path.dirname(file), one)) : []
  return { file, hasConfigs, sha256: await sha256Of([file, ...configs.filter((one) => statIfThere(one)?.isFile())]) }
}

/**
 * The file of a tokenizer that is a file or a folder, as Tokenizer.fromFile finds it. Throws if the
 * tokenizer consists of several files, because a job has the SHA-256 of one.
 */
async function wholeFile(name, place, encoding) {
  const base = path.basename(place)
  if (!PART.test(base) && (encoding !== undefined || !RANKS.test(base))) {
    if (!statIfThere(place)?.isDirectory()) return { file: place, hasConfigs: false }
    const { file, bytes, configs, failure, ranks } = await run(modules.modelFolder.modelOf(place))
    if (bytes === undefined && ranks === undefined)
      return { file, hasConfigs: configs !== undefined || failure !== undefined }
  }
  throw unsupported(
    `${name}: a corpus job needs a tokenizer in one file, whose SHA-256 identifies the job: write it with tokenizer.toBuffer() and name that tokenizer.json`,
  )
}

async function sha256Of(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    try {
      // The weights behind the metadata are no part of a tokenizer.
      const gguf = await run(modules.ggufFile.ggufOf(file))
      if (gguf !== undefined) {
        hash.update(gguf.bytes)
        continue
      }
      const handle = await openRegular(file)
      for await (const chunk of handle.createReadStream({ highWaterMark: READ_BYTES })) hash.update(chunk)
    } catch (failure) {
      throw fileFailure(file, failure)
    }
  }
  return hash.digest('hex')
}

/**
 * Fills in the options whose defaults depend on the tokenizer: the type of the ids, the treatment
 * of special tokens in a text, and the ids before and after each document.
 *
 * @param {import('tokenlane').Tokenizer} tokenizer
 * @param {TokenizerSource} source
 * @param {import('./options.mjs').Content} content
 */
export async function completeContent(tokenizer, source, content) {
  const ids = {
    bos: await edgeOf('bos', content.bos, tokenizer, source),
    eos: await edgeOf('eos', content.eos, tokenizer, source),
  }
  const around = Number(ids.bos !== undefined) + Number(ids.eos !== undefined)
  if (content.maxTokens !== undefined && content.maxTokens <= around) {
    throw contradiction(`maxTokens is ${content.maxTokens}, but bos and eos alone are ${around}`)
  }
  const complete = {
    ...content,
    type: ROW_FORMATS.includes(content.format)
      ? undefined
      : (content.type ?? (maxId(tokenizer) <= MAX_IDS.u16 ? 'u16' : 'u32')),
    writer: content.format === 'parquet' ? await writerVersion() : undefined,
    specialTokens: content.specialTokens ?? usualSpecialTokens(tokenizer),
  }
  return { content: JSON.parse(JSON.stringify(complete)), ids }
}

async function writerVersion() {
  const { parquetWriterVersion } = await import('./formats/parquet.mjs')
  return parquetWriterVersion()
}

/** The id of the token that starts or ends each document; `undefined` if the job has none. */
async function edgeOf(name, wanted, tokenizer, source) {
  if (wanted === false) return undefined
  const token = wanted === true ? ((await configured(`${name}_token`, source)) ?? usual(name, tokenizer)) : wanted
  const id = token === undefined ? undefined : tokenizer.tokenToId(token)
  if (id !== undefined) return id
  const option = `${name}: 'TOKEN' (--${name}-token TOKEN)`
  const reason =
    token === undefined
      ? `nothing says which token of ${source.name} is ${name}`
      : `${source.name} has no token '${token}'`
  throw error('ERR_TOKENLANE_NO_SUCH_SPECIAL_TOKEN', `${reason}: name it with ${option}`)
}

/** The token that the tokenizer_config.json beside the tokenizer names, if there is one. */
async function configured(name, { file }) {
  if (file === undefined) return undefined
  let config
  try {
    config = JSON.parse(
      (await readRegular(path.join(path.dirname(file), 'tokenizer_config.json'), MAX_CONFIG_BYTES)).toString(),
    )
  } catch {
    return undefined
  }
  const token = config?.[name]?.content ?? config?.[name]
  return typeof token === 'string' ? token : undefined
}

/** The usual token that the vocabulary contains, unless it contains several. */
function usual(name, tokenizer) {
  const found = USUAL_TOKENS[name].filter((token) => tokenizer.tokenToId(token) !== undefined)
  return found.length === 1 ? found[0] : undefined
}
