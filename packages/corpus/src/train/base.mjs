// The tokenizer.json to train: everything but its vocabulary, and the trainer of its model. It
// comes from another tokenizer (`like`), from parts, or from the defaults of a model.

import { loadTokenizer, sourceOf } from 'tokenlane/internal/files.mjs'
import { byteLevelAlphabet, modules, native, componentsOf, Tokenizer } from 'tokenlane/internal/corpus.js'
import { wrongType } from '../errors.mjs'
import { trainerOf } from './options.mjs'
import { checkTokens } from './post-processor.mjs'

/** The models by the names that they have in a tokenizer.json. */
const MODELS = { BPE: 'bpe', WordPiece: 'wordpiece', WordLevel: 'wordlevel', Unigram: 'unigram' }
const TYPES = Object.fromEntries(Object.entries(MODELS).map(([type, model]) => [model, type]))

/** The encoding whose words BPE learns from if nothing else is said. */
const DEFAULT_ENCODING = 'o200k_base'

/** The unknown tokens that the models have by default, where they need one. */
const UNKNOWN = { wordpiece: '[UNK]', wordlevel: '[UNK]', unigram: '<unk>' }

/**
 * The parts of a tokenizer.json for a model, if neither `like` nor parts are given: those of
 * o200k_base, of cased BERT, and of SentencePiece.
 */
const DEFAULT_PARTS = {
  bpe: () => ofEncoding(DEFAULT_ENCODING),
  wordpiece: () => ({
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: false,
      lowercase: false,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  }),
  wordlevel: () => ({ pre_tokenizer: { type: 'Whitespace' } }),
  unigram: () => ({
    normalizer: {
      type: 'Sequence',
      normalizers: [{ type: 'NFKC' }, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }],
    },
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
  }),
}

/**
 * Makes the tokenizer.json to train, without its vocabulary, and the trainer.
 *
 * @param {import('./options.mjs').Options} options
 * @returns {Promise<{ base: any, trainer: object }>}
 */
export async function definitionOf({ like, model: wanted, parts, given }) {
  const source = like === undefined ? undefined : await sourceParts(like)
  const model = wanted ?? MODELS[source?.model?.type] ?? 'bpe'
  const hasParts = Object.keys(parts).length > 0
  const base = {
    ...modules.components.EMPTY_FILE,
    ...(source === undefined ? !hasParts && pick(DEFAULT_PARTS[model]()) : pick(source)),
    ...parts,
  }
  const byDefault = source === undefined ? {} : defaultsOf(source, model)
  const unkToken = given.unkToken ?? byDefault.unkToken ?? UNKNOWN[model]
  /** @type {Record<string, any>} */
  const options = { ...byDefault, ...given, ...(unkToken !== undefined && { unkToken }) }
  options.initialAlphabet ??= isByteLevel(base.pre_tokenizer) && model !== 'wordlevel' ? byteLevelAlphabet() : undefined
  // The reference trains a vocabulary without its unknown token, which then fails on unknown text.
  options.specialTokens = withToken(options.specialTokens ?? [], unkToken)
  checkTokens(base.post_processor, options.specialTokens)
  for (const name of Object.keys(options)) if (options[name] === undefined) delete options[name]
  const settings = source !== undefined && MODELS[source.model?.type] === model ? { ...source.model } : {}
  for (const name of ['vocab', 'merges', 'unk_id']) delete settings[name]
  return {
    base: {
      ...base,
      model: { ...settings, type: TYPES[model], ...(unkToken !== undefined && { unk_token: unkToken }) },
    },
    trainer: trainerOf(model, options),
  }
}

/** The special tokens, with the unknown token as the first one if it is not among them. */
const withToken = (tokens, token) =>
  token === undefined || tokens.some(({ content }) => content === token) ? tokens : [{ content: token }, ...tokens]

const pick = ({ normalizer, pre_tokenizer, post_processor, decoder }) =>
  Object.fromEntries(
    Object.entries({ normalizer, pre_tokenizer, post_processor, decoder }).filter(([, part]) => part !== undefined),
  )

/** The tokenizer.json of another tokenizer, without its vocabulary. */
async function sourceParts(like) {
  if (typeof like !== 'string') return partsOfTokenizer(like)
  const { file, encoding, repository } = sourceOf(like)
  if (file === undefined && repository === undefined) return ofEncoding(encoding)
  return partsOfTokenizer(await loadTokenizer(like))
}

function partsOfTokenizer(tokenizer) {
  if (!(tokenizer instanceof Tokenizer)) throw wrongType('like', 'the name of a tokenizer, or a Tokenizer', tokenizer)
  const parts = JSON.parse(Buffer.from(componentsOf(tokenizer)).toString())
  const { unk_id: unknown } = parts.model
  if (typeof unknown === 'number') parts.model.unk_token = tokenizer.idToToken(unknown)
  return parts
}

/**
 * The parts of a bundled encoding: those of a tokenizer of single bytes with its pattern and its
 * special tokens, which is made faster than the encoding is read.
 */
function ofEncoding(name) {
  const { pattern, specialTokens } = native.encodingDefinition(name)
  const ranks = Array.from({ length: 256 }, (_, byte) => `${Buffer.of(byte).toString('base64')} ${byte}\n`).join('')
  const tokenizer = Tokenizer.fromBufferSync(Buffer.from(ranks), { pattern, specialTokens })
  return partsOfTokenizer(tokenizer)
}

/**
 * The options that follow from another tokenizer, as `train_new_from_iterator` of transformers
 * derives them: its special tokens and its unknown token, and for BPE the prefix and the suffix.
 */
function defaultsOf({ model, added_tokens: added }, name) {
  const isSame = MODELS[model.type] === name
  const special = added.filter((token) => token.special || (name === 'unigram' && isSame))
  return {
    specialTokens: special.map(({ content, single_word, lstrip, rstrip, normalized }) => ({
      content,
      single_word,
      lstrip,
      rstrip,
      normalized,
    })),
    ...(isSame && {
      unkToken: model.unk_token ?? undefined,
      ...(name !== 'wordlevel' &&
        name !== 'unigram' && {
          continuingSubwordPrefix: model.continuing_subword_prefix ?? undefined,
          endOfWordSuffix: model.end_of_word_suffix ?? undefined,
        }),
    }),
  }
}

/** Whether a pre-tokenizer writes bytes as printable characters. */
function isByteLevel(part) {
  if (part?.type === 'Sequence' && Array.isArray(part.pretokenizers)) return part.pretokenizers.some(isByteLevel)
  return part?.type === 'ByteLevel'
}
