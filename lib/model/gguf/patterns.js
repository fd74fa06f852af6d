'use strict'

// How llama.cpp splits text before BPE, by `tokenizer.ggml.pre`. Where it spells the pattern of a
// model in a way that splits otherwise, its spelling counts.

/**
 * The pattern of GPT-2 as the last one, for which pre-tokenizers have a flag. A step with it writes
 * bytes as letters, signs and numbers, so that patterns after it would split characters.
 */
const GPT2 = Symbol('GPT-2')
const GPT2_WORDS = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

const CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
/** The same, without the letters that equal these in another case but are not ASCII: \u017f. */
const ASCII_CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
const TAIL = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`
const words = (numbers, symbols = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`, contraction = CONTRACTION) =>
  `${contraction}|${String.raw`[^\r\n\p{L}\p{N}]?\p{L}+`}|${numbers}|${symbols}|${TAIL}`
const UPPER = String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`
const LOWER = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`
const START = String.raw`[^\r\n\p{L}\p{N}]?`
const SYMBOLS = String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`
/** The pattern of o200k, in which only ASCII letters have a case. */
const cased = (letters, numbers, contraction = `${ASCII_CONTRACTION}?`) => {
  const [upper, lower] = [`[${letters}&&[^a-z]]`, `[${letters}&&[^A-Z]]`]
  return `${START}${upper}*${lower}+${contraction}|${START}${upper}+${lower}*${contraction}|${numbers}|${SYMBOLS}|${TAIL}`
}
/** The same, in which letters have no case. */
const caseless = (numbers) => String.raw`${START}[\p{L}\p{M}]+${ASCII_CONTRACTION}?|${numbers}|${SYMBOLS}|${TAIL}`
const DIGITS = String.raw`\p{N}{1,3}`
const DIGIT = String.raw`\p{N}`
const ASCII_WORD = String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_\x60{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+`
const CJK = '[一-龥぀-ゟ゠-ヿ]+'
// `[一-龥ࠀ-一가-퟿]+` without white space, which llama.cpp hides from patterns without categories.
const DEEPSEEK_CJK =
  '[一-龥ࠀ-\u{167f}\u{1681}-\u{1fff}\u{200b}-\u{2027}\u{202a}-\u{202e}\u{2030}-\u{205e}\u{2060}-\u{2fff}、-一가-퟿]+'
const BLOOM = String.raw` ?[^(\s|.,!?…。，、।۔،)]+`
const HAN = String.raw`\p{Han}`
/** What llama.cpp takes for Chinese characters. */
const IDEOGRAPHS = '一-鿿㐀-䶿\u{20000}-\u{2a6df}\u{2a700}-\u{2ebef}\uf900-\ufaff\u{2f800}-\u{2fa1f}'
/** Groups of three digits from the right, of runs of digits that an earlier pattern cuts off. */
const GROUPS = String.raw`\A\p{N}{1,2}(?=(?:\p{N}{3})*\z)|\p{N}{3}`
const SPACE_RUNS = [512, 256, 128, 64, 32, 16, 8, 4, '1,2'].map((count) => String.raw`\s{${count}}(?!\S)`).join('|')

/** The letters of deepseek-llm. */
const LETTERS = [
  'A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-\u{293}\u{295}-\u{2af}\u{370}-\u{373}\u{376}\u{377}\u{37b}-\u{37d}',
  '\u{37f}\u{386}\u{388}-\u{38a}\u{38c}\u{38e}-\u{3a1}\u{3a3}-\u{3f5}\u{3f7}-\u{481}\u{48a}',
  '-\u{52f}\u{531}-\u{556}\u{10a0}-\u{10c5}\u{13a0}-\u{13f5}\u{13f8}-\u{13fd}\u{1c90}-',
  '\u{1cba}\u{1cbd}-\u{1cbf}\u{1d00}-\u{1d2b}\u{1d6b}-\u{1d77}\u{1d79}-\u{1d9a}\u{1e00}-',
  '\u{1f15}\u{1f18}-\u{1f1d}\u{1f20}-\u{1f45}\u{1f48}-\u{1f4d}\u{1f50}-\u{1f57}\u{1f59}',
  '\u{1f5b}\u{1f5d}\u{1f5f}-\u{1f7d}\u{1f80}-\u{1fb4}\u{1fb6}-\u{1fbc}\u{1fbe}\u{1fc2}-',
  '\u{1fc4}\u{1fc6}-\u{1fcc}\u{1fd0}-\u{1fd3}\u{1fd6}-\u{1fdb}\u{1fe0}-\u{1fec}\u{1ff2}-',
  '\u{1ff4}\u{1ff6}-\u{1ffc}\u{2102}\u{2107}\u{210a}-\u{2113}\u{2115}\u{2119}-\u{211d}',
  '\u{2124}\u{2126}\u{2128}\u{212a}-\u{212d}\u{212f}-\u{2134}\u{2139}\u{213c}-\u{213f}',
  '\u{2145}-\u{2149}\u{214e}\u{2183}\u{2184}\u{2c00}-\u{2c7b}\u{2c7e}-\u{2ce4}\u{2ceb}-',
  '\u{2cee}\u{2cf2}\u{2cf3}\u{a640}-\u{a66d}\u{a680}-\u{a69b}\u{a722}-\u{a76f}\u{a771}-',
  '\u{a787}\u{a78b}-\u{a78e}\u{ab70}-\u{abbf}\u{fb00}-\u{fb06}\u{fb13}-\u{fb17}\u{ff21}-',
  '\u{ff3a}\u{ff41}-\u{ff5a}\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}',
  '\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}',
].join('')

/** The pattern of Kimi K2: words without Chinese characters, which are words of their own. */
const KIMI = [
  `[${HAN}]+`,
  String.raw`[^\r\n\p{L}\p{N}]?[${UPPER}&&[^${HAN}]]*[${LOWER}&&[^${HAN}]]+${CONTRACTION}?`,
  String.raw`[^\r\n\p{L}\p{N}]?[${UPPER}&&[^${HAN}]]+[${LOWER}&&[^${HAN}]]*${CONTRACTION}?`,
  DIGITS,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`,
  TAIL,
].join('|')

/** The pattern of Qwen. */
const QWEN = words(DIGIT)

/** @typedef {(string | typeof GPT2)[]} Patterns each splits the pieces of those before it */

/** @type {Record<string, Patterns>} */
const PATTERNS = {
  default: [String.raw`[\p{P}\$\+<=>\^~\|]+`, GPT2_WORDS, String.raw`\p{N}+`, '[0-9][0-9][0-9]'],
  falcon: [String.raw`[\p{P}\$\+<=>\^~\|\x60]+`, GPT2_WORDS, '[0-9][0-9][0-9]'],
  gpt2: [GPT2],
  digit: [DIGIT, GPT2],
  llama3: [words(DIGITS)],
  qwen2: [QWEN],
  qwen35: [String.raw`${CONTRACTION}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${TAIL}`],
  jais2: [words(DIGITS).replace(String.raw`\s+(?!\S)|\s+`, String.raw`${SPACE_RUNS}|\s`)],
  turkish: [String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${TAIL}`],
  gpt4o: [cased(String.raw`\p{L}`, DIGITS)],
  granite: [cased(String.raw`\p{L}\p{M}`, DIGITS)],
  tekken: [cased(String.raw`\p{L}`, DIGIT, '')],
  cohere: [caseless(String.raw`\p{N}+`), GROUPS],
  youtu: ['[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+', caseless(DIGIT)],
  minicpm5: [DIGITS, words(String.raw`\p{N}+`, undefined, ASCII_CONTRACTION)],
  seed: [words(DIGIT, String.raw` ?[^\s\p{L}\p{N}\r\n]+`, ASCII_CONTRACTION)],
  bailing: [
    String.raw`'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`,
  ],
  laguna: [String.raw`[^\n]+|[\n]+`, words(DIGIT)],
  exaoneMoe: [
    String.raw`${ASCII_CONTRACTION}|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+`,
  ],
  deepseekLlm: [
    String.raw`[\r\n]`,
    String.raw`\s?[${LETTERS}]+`,
    String.raw`\s?[!-/:-~！-／：-～‘-‟、-。]+`,
    String.raw`\s+$`,
    DEEPSEEK_CJK,
    String.raw`\p{N}+`,
  ],
  deepseekCoder: [String.raw`[\r\n]`, String.raw`\s?\p{L}+`, String.raw`\s?\p{P}+`, DEEPSEEK_CJK, DIGIT],
  deepseekV3: [DIGITS, CJK, String.raw`${ASCII_WORD}| ?[\p{P}\p{S}]+[\r\n]*|${TAIL}`],
  spark: [DIGITS, CJK, String.raw`${ASCII_WORD}| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+`, DIGIT],
  bloom: [BLOOM],
  viking: [BLOOM, DIGIT],
  kimi: [
    String.raw`[${IDEOGRAPHS}]+|${START}[\p{L}&&[^${IDEOGRAPHS}]]+${ASCII_CONTRACTION}?|${DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n]*|${TAIL}`,
  ],
  lines: [String.raw`[^\n]+|[\n]+`],
}

/** The names of Llama 3 and of models like it. */
const LLAMA3 = [
  'llama3',
  'llama-v3',
  'llama-bpe',
  'falcon3',
  'falcon-h1',
  'pixtral',
  'midm-2.0',
  'lfm2',
  'jina-v5-nano',
]

/** The names of `tokenizer.ggml.pre` by the patterns that they stand for. */
const NAMES = {
  default: ['', 'default'],
  falcon: ['falcon'],
  gpt2: [
    ...['gpt-2', 'phi-2', 'jina-es', 'jina-de', 'gigachat', 'jina-v2-es', 'jina-v2-de', 'a.x-4.0', 'mellum'],
    ...['modern-bert', 'jina-v1-en', 'jina-v2-code', 'roberta-bpe', 'mpt', 'olmo', 'jais', 'trillion'],
    ...['granite-docling', 'exaone4'],
  ],
  digit: ['starcoder', 'refact', 'command-r', 'smollm', 'codeshell', 'exaone', 'minerva-7b', 'mellum2'],
  llama3: [...LLAMA3, 'dbrx', 'smaug-bpe', 'chatglm-bpe', 'glm4', 'glm5'],
  qwen2: [
    ...['qwen2', 'deepseek-r1-qwen', 'kormo', 'f2llmv2', 'megrez', 'stablelm2', 'hunyuan', 'solar-open', 'grok-2'],
  ],
  qwen35: ['qwen35'],
  jais2: ['jais-2'],
  turkish: ['ufakzeka'],
  gpt4o: ['gpt-4o', 'llama4', 'kanana2', 'talkie', 'minimax-m2'],
  granite: ['granite-embed-multi-97m'],
  tekken: ['tekken'],
  cohere: ['tiny_aya', 'cohere2moe'],
  youtu: ['youtu'],
  minicpm5: ['minicpm5'],
  seed: ['seed-coder'],
  bailing: ['bailingmoe', 'bailingmoe2', 'llada-moe'],
  laguna: ['laguna'],
  exaoneMoe: ['exaone-moe'],
  deepseekLlm: ['deepseek-llm'],
  deepseekCoder: ['deepseek-coder'],
  deepseekV3: ['deepseek-v3', 'hunyuan-dense', 'joyai-llm', 'hy_v4'],
  spark: ['spark2_5'],
  bloom: ['poro-chat', 'bloom', 'gpt3-finnish'],
  viking: ['viking'],
  kimi: ['kimi-k2'],
  lines: ['gemma4', 'granite-embed-multi-311m', 'sarvam-moe'],
}

/** Words that are tokens are not merged. */
const IGNORES_MERGES = [...LLAMA3, 'youtu', 'glm4', 'glm5', 'tekken', 'minicpm5', 'granite-embed-multi-97m']
/** Texts start with the first token unless the file says otherwise. */
const ADDS_BOS = [...LLAMA3, 'tekken']
/** Texts start with the first token whatever the file says. */
const FORCES_BOS = ['gemma4', 'granite-embed-multi-311m']
/** The parts of a pair have a token between them unless the file says otherwise. */
const ADDS_SEP = ['jina-v1-en', 'jina-v2-code', 'roberta-bpe']
/** There is no first token unless the file names it. */
const HAS_NO_BOS = ['chatglm-bpe', 'glm4', 'glm5']

const BY_NAME = new Map(Object.entries(NAMES).flatMap(([kind, names]) => names.map((name) => [name, kind])))

/**
 * How a file with a name of `tokenizer.ggml.pre` splits and merges text, or undefined for a name
 * that is not known.
 *
 * @param {string} name
 */
function preTokenizerOf(name) {
  const kind = BY_NAME.get(name)
  if (kind === undefined) return undefined
  return {
    patterns: PATTERNS[kind],
    /** Tokens are UTF-8 with `▁` for spaces, not the byte alphabet of GPT-2. */
    hasSpaces: kind === 'lines',
    ignoresMerges: IGNORES_MERGES.includes(name),
    addsBos: ADDS_BOS.includes(name),
    forcesBos: FORCES_BOS.includes(name),
    addsSep: ADDS_SEP.includes(name),
    hasBos: !HAS_NO_BOS.includes(name),
  }
}

module.exports = { GPT2, KIMI, QWEN, preTokenizerOf }
