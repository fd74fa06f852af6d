// Is compiled, never run: correct use of the package, and with @ts-expect-error incorrect use.
import {
  Batch,
  Encoding,
  Tokenizer,
  encodingForModel,
  encodings,
  isTokenlaneError,
  limits as serviceLimits,
} from 'tokenlane'
import type {
  Changes,
  ChatEncoding,
  ChatMessage,
  ChatOptions,
  ChatPiece,
  CountOptions,
  DecodeOptions,
  DownloadProgress,
  EncodeBatchOptions,
  EncodeOneOptions,
  EncodeOptions,
  EncodedInto,
  EncodingName,
  Ids,
  LiveText,
  LoadOptions,
  MarkdownPiece,
  ModelName,
  OffsetUnit,
  Padding,
  Piece,
  PretrainedOptions,
  RunOptions,
  SpecialTokens,
  SplitOptions,
  TensorData,
  Text,
  TokenlaneError,
  ThreadOptions,
  Truncation,
} from 'tokenlane'

import { Tiktoken, encoding_for_model, get_encoding } from '@tokenlane/tiktoken'
import cl100k from '@tokenlane/tiktoken/encoders/cl100k_base'
import { init, type TiktokenEncoding, type TiktokenModel } from '@tokenlane/tiktoken/init'
import { encodingForModel as jsEncodingForModel, type TiktokenBPE } from '@tokenlane/js-tiktoken'
import { Tiktoken as JsTiktoken } from '@tokenlane/js-tiktoken/lite'
import jsRanks from '@tokenlane/js-tiktoken/ranks/o200k_base'
import { encode as gptEncode } from '@tokenlane/gpt-tokenizer'
import gpt4o from '@tokenlane/gpt-tokenizer/model/gpt-4o'
import { GptEncoding, type ChatCompletionFunctionDefinition } from '@tokenlane/gpt-tokenizer/GptEncoding'
import { resolveEncoding } from '@tokenlane/gpt-tokenizer/resolveEncoding'
import { AutoTokenizer, BertTokenizer, PreTrainedTokenizer, Tensor, env } from '@tokenlane/transformers'
import { Encoding as HfEncoding, Tokenizer as HfTokenizer, whitespacePreTokenizer } from '@tokenlane/tokenizers'

import { chatEnabledModels } from '@tokenlane/gpt-tokenizer/modelsChatEnabled.gen'
import { encodingNames, type EncodingName as GptEncodingName } from '@tokenlane/gpt-tokenizer/mapping'
import { init as initWeb } from '@tokenlane/web'

// Tuples, as those that z.enum takes.
const gptEncodings: GptEncodingName[] = encodingNames
const atLeastOne: [string, ...string[]] = encodingNames
const firstModel: string = chatEnabledModels[0]
await initWeb(new Uint8Array(8))
// @ts-expect-error no module
await initWeb(7)

const names: string[] = encodings()
serviceLimits.configure({ maxInputBytes: 1 << 20 })
const most: number = serviceLimits.maxQueuedBatches
// @ts-expect-error a limit is set by configure
serviceLimits.maxInputBytes = 5
const tokenizer: Tokenizer = await Tokenizer.fromEncoding(names[0] ?? 'o200k_base')
const loadOptions: LoadOptions = { pattern: '.', specialTokens: { '<s>': 1 } }
const others = [
  await Tokenizer.fromFile(new URL('file:///tokenizer.json')),
  await Tokenizer.fromBuffer(Buffer.from(''), loadOptions),
  Tokenizer.fromFileSync('tokenizer.json', { encoding: 'r50k_base' }),
  Tokenizer.fromBufferSync(new Uint8Array()),
  Tokenizer.fromEncodingSync('o200k_base'),
  Tokenizer.forModelSync('gpt-4o'),
  await Tokenizer.forModel('gpt-4o'),
  await Tokenizer.fromEncoding(encodingForModel('ft:gpt-4o:org')),
]

const wanted: PretrainedOptions = {
  revision: 'main',
  token: false,
  cacheDir: new URL('file:///cache/'),
  localFilesOnly: true,
  signal: AbortSignal.timeout(1000),
  onProgress: ({ file, loaded, total }: DownloadProgress) => console.log(file, loaded / total),
}
const pretrained: Tokenizer = await Tokenizer.fromPretrained('org/name', wanted)
// @ts-expect-error a repository has a name
await Tokenizer.fromPretrained()
// @ts-expect-error there is no such option
await Tokenizer.fromPretrained('org/name', { revison: 'main' })

const messages: ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hello!' }], name: 'ann' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
]
const chat: ChatOptions = {
  tools: [{ type: 'function' }],
  documents: null,
  addGenerationPrompt: true,
  variables: { enable_thinking: false },
  content: 'throw',
}
const chatIds: Uint32Array = tokenizer.applyChatTemplate(messages, { ...chat, tokenize: true }).ids
const chatText: string = tokenizer.applyChatTemplate(messages, { continueFinalMessage: 'content', tokenize: false })
const chatPieces: ChatPiece[] = tokenizer.applyChatTemplate(messages, { tokenize: false, pieces: true })
const masked: ChatEncoding = tokenizer.applyChatTemplate(messages, { ...chat, returnAssistantMask: { by: 'origin' } })
const masks: [Uint8Array, Int32Array] = [masked.assistantMask, masked.messageIds]
// @ts-expect-error masks are for ids
tokenizer.applyChatTemplate(messages, { tokenize: false, returnAssistantMask: true })
const chatCount: number = tokenizer.countChat(messages, { chatTemplate: 'default' })
const agentCount: number = tokenizer.countChat(messages, {
  model: 'gpt-4o',
  imageSize: (url) => (url === '' ? undefined : { width: 1, height: 1 }),
})
Tokenizer.fromFileSync('tokenizer.json', { chatTemplate: { default: '', rag: '' }, config: { bos_token: '<s>' } })
// @ts-expect-error a message has a role
tokenizer.countChat([{ content: 'x' }])
// @ts-expect-error variables are given as such
tokenizer.countChat(messages, { enable_thinking: false })

const changes: Changes = {
  addedTokens: ['<a>', { content: '<b>', special: true, id: 7 }],
  normalizer: { type: 'NFC' },
  decoder: null,
  model: { dropout: null, ignoreMerges: true },
  truncation: false,
  padding: { to: 8 },
}
const changed: Tokenizer = tokenizer.with(changes)
const merges: [string, string][] | undefined = changed.toJSON().model.merges
const written: Uint8Array = changed.toBuffer()

const unit: OffsetUnit = 'utf16'
const policy: SpecialTokens = ['<|endoftext|>'] as const
const count: CountOptions = { addSpecialTokens: false, specialTokens: policy }
const encode: EncodeOptions = { ...count, offsets: unit }
const encoding: Encoding = tokenizer.encode('text', encode)
const columns: [Uint32Array, Uint32Array | undefined, string[], Uint8Array, Int32Array] = [
  encoding.ids,
  encoding.offsets,
  encoding.tokens,
  encoding.specialTokensMask,
  encoding.wordIds,
]

const texts: readonly Text[] = ['a', new Uint8Array()]
const threads: ThreadOptions = { threads: 2 }
const run: RunOptions = { ...threads, signal: AbortSignal.timeout(1000) }
{
  using batch: Batch = await tokenizer.encodeBatch(texts, { ...encode, ...run })
  for (const row of batch) row.length
}
const batch = tokenizer.encodeBatchSync(texts, threads)
const truncation: Truncation = { maxLength: 8, stride: 2, strategy: 'only_first', direction: 'left' }
const padding: Padding = { to: 'longest', multipleOf: 8, padId: 1, padTypeId: 0, padToken: '<pad>' }
const pair: EncodeOneOptions = { pair: 'other', truncation, padding: false }
const parts: readonly Encoding[] = tokenizer.encode('text', pair).overflowing
const words = tokenizer.encode(['one', 'two'], { pretokenized: true, pair: ['three'] })
const span: [number, number] | undefined = words.wordToTokens(0) ?? words.tokenToChars(0)
const many: EncodeBatchOptions = { pairs: texts, columns: ['typeIds', 'tokens'], overflow: true, padding }
const whole = await tokenizer.encodeBatch([['one'], ['two', 'three']], { ...many, pretokenized: true, ...run })
const { data, dims } = whole.tensor('int64', 'attentionMask')
const wide: BigInt64Array = data
const tensor: TensorData<'int32'> = whole.tensor('int32')
const countsNow: Uint32Array = tokenizer.countBatchSync(texts, { ...count, threads: 2 })
const counts: Uint32Array = await tokenizer.countBatch(texts, { ...count, ...run })
const fits: boolean = tokenizer.isWithin('text', 10, count)
const into: EncodedInto = tokenizer.encodeInto(new Uint8Array(), new Uint32Array(8))
const start: string = tokenizer.truncate('text', 3)
const startOfBytes: Uint8Array = tokenizer.truncate(Buffer.from('text'), 3)
const limits: SplitOptions = { maxTokens: 512, overlap: 64, boundary: 'sentence', ...count }
const pieces: Piece[] = tokenizer.split('text', limits)
const later: Promise<Piece[]> = tokenizer.splitAsync('text', { ...limits, signal: new AbortController().signal })
const streamed: TransformStream<string, Piece> = tokenizer.splitStream({ maxTokens: 3 })
const live: LiveText = tokenizer.live('text', count)
const counted: number = live.count() + live.count(0, live.length)
const idStream: TransformStream<string, Uint32Array> = tokenizer.encodeChunks({ ...count, signal: undefined })
const idsOfSource: AsyncGenerator<Uint32Array, void> = tokenizer.encodeChunks(['te', 'xt'], count)
const model: TiktokenModel = 'gpt-4o'
const encodingName: TiktokenEncoding = 'o200k_base'
// @ts-expect-error a model that the original does not know
encoding_for_model('gpt-unknown')
const ofModel: Uint32Array = encoding_for_model(model).encode_ordinary(encodingName)
const weather: ChatCompletionFunctionDefinition = {
  name: 'weather',
  parameters: {
    type: 'object',
    required: ['city'],
    properties: { city: { type: 'string', enum: ['Ghent'] }, days: { type: 'array', items: { type: 'integer' } } },
  },
}
const withFunctions: number | undefined = gpt4o.countChatCompletionTokens?.({
  messages: [{ content: 'hi' }],
  functions: [weather],
  function_call: { name: 'weather' },
})
const tiktokenIds: Uint32Array = get_encoding('cl100k_base').encode('text', 'all')
const ordinary: Uint32Array = new Tiktoken(cl100k.bpe_ranks, cl100k.special_tokens, cl100k.pat_str).encode_ordinary(
  'text',
)
const ready: Promise<void> = init(async (imports) => imports)

const gptIds: number[] = gptEncode('text', { allowedSpecial: 'all' })
const within: number | false = gpt4o.isWithinTokenLimit([{ role: 'user', content: 'text' }], 10)
const viaClass: GptEncoding = GptEncoding.getEncodingApi('o200k_harmony', resolveEncoding)
const auto: PreTrainedTokenizer = await AutoTokenizer.from_pretrained('org/name', {
  revision: 'main',
  progress_callback: ({ status, file }) => console.log(status, file),
})
const tensors: Tensor = auto(['a', 'b'], {
  text_pair: ['c', null],
  padding: true,
  truncation: true,
  max_length: 8,
}).input_ids
const int64: bigint[][] = tensors.tolist()
const nested: number[][] = auto(['a'], { return_tensor: false }).attention_mask
const flat: number[] | undefined = auto('a', { return_tensor: false, return_token_type_ids: true }).token_type_ids
const prompt: string = auto.apply_chat_template([{ role: 'user', content: 'x' }], {
  tokenize: false,
  enable_thinking: true,
})
const promptIds: number[] = auto.apply_chat_template([{ role: 'user', content: 'x' }], {
  return_tensor: false,
  return_dict: false,
})
const promptInputs: Tensor = auto.apply_chat_template([{ role: 'user', content: 'x' }]).attention_mask
const padId: number = new BertTokenizer({}, {}).pad_token_id
env.cacheDir = '/cache'
// @ts-expect-error a pair of one text is a text
auto('a', { text_pair: ['b'] })
// @ts-expect-error a misspelt option
auto('a', { max_lenght: 3 })
// @ts-expect-error there is no such setting
env.useBrowserCache = false
// @ts-expect-error it is loaded, or made from two objects
new BertTokenizer()
const hfEncoding: HfEncoding = await HfTokenizer.fromFile('tokenizer.json').encode('text', null, {
  isPretokenized: false,
})
const hfWords: [string, [number, number]][] = whitespacePreTokenizer().preTokenizeString('text')
const ids: Ids = [1, 2, 3]
const decode: DecodeOptions = { skipSpecialTokens: true }
const back: string = tokenizer.decode(ids, decode)
const rows: string[] = await tokenizer.decodeBatch(batch, { ...decode, ...run })
const bytes: Uint8Array = tokenizer.decodeBytes(batch.row(0))
const id: number | undefined = tokenizer.tokenToId('a')
const token: string | undefined = tokenizer.idToToken(1)
const size: number = tokenizer.vocabSize({ addedTokens: false })

// @ts-expect-error only the loaders make tokenizers
new Tokenizer()
// @ts-expect-error a misspelt option
tokenizer.encode('a', { addSpecialToken: true })
// @ts-expect-error no such unit
tokenizer.encode('a', { offsets: 'utf8' })
// @ts-expect-error a count has no offsets
tokenizer.count('a', { offsets: 'byte' })
// @ts-expect-error nothing to abort
tokenizer.encodeBatchSync(['a'], { signal: AbortSignal.abort() })
// @ts-expect-error a text, not a list of texts
tokenizer.encodeBatch('a')
// @ts-expect-error views are not replaced
batch.ids = new Uint32Array()

// @ts-expect-error a limit is needed
tokenizer.split('text', { overlap: 3 })
// @ts-expect-error split cannot be stopped
tokenizer.split('text', { maxTokens: 3, signal: new AbortController().signal })
// @ts-expect-error a misspelt change
tokenizer.with({ normaliser: null })
// @ts-expect-error words need pretokenized
tokenizer.encode(['one', 'two'])
// @ts-expect-error a pair of a batch is a list
tokenizer.encodeBatch(texts, { pair: 'a' })

export { plainCounts, typedCounts }
export { codeOf, gpt4oEncoding, isFull, isNearlyFull, markdownPieces, modelName, someError }
export { flat, int64, nested, padId, prompt, promptIds, promptInputs }
export { gptIds, ofModel, withFunctions, hfEncoding, hfWords, ordinary, tiktokenIds, viaClass, within }
export {
  back,
  bytes,
  columns,
  masks,
  chatPieces,
  counts,
  dims,
  fits,
  id,
  into,
  later,
  merges,
  others,
  parts,
  pieces,
  rows,
  size,
  span,
  start,
  startOfBytes,
  streamed,
  tensor,
  token,
  wide,
  written,
}

const jsBpe: TiktokenBPE = jsRanks
const jsIds: number[] = new JsTiktoken(jsBpe, { '<x>': 300000 }).encode('a', ['<x>'], 'all')
const jsText: string = jsEncodingForModel('gpt-4o').decode(jsIds)
// @ts-expect-error not a model
jsEncodingForModel('nope')

const sections: Piece[] = tokenizer.split('# a', { maxTokens: 5, overlap: 1, boundary: 'markdown' })
const titles: string[] = sections[0]?.headings ?? []
for (const { headings } of tokenizer.split('# a', { maxTokens: 5, boundary: 'markdown', headings: 'include' }))
  titles.push(...headings)
// @ts-expect-error: only 'include'
tokenizer.split('# a', { maxTokens: 5, boundary: 'markdown', headings: 'exclude' })
// @ts-expect-error: only with 'markdown'
tokenizer.split('# a', { maxTokens: 5, boundary: 'sentence', headings: 'include' })
for (const { headings } of await tokenizer.splitAsync('# a', { maxTokens: 5, boundary: 'markdown' }))
  titles.push(...headings)
const markdownPieces: TransformStream<string, MarkdownPiece> = tokenizer.splitStream({
  maxTokens: 5,
  boundary: 'markdown',
})
const plainCounts: number[] = await tokenizer.countBatch(['a'], { as: 'array' })
// @ts-expect-error a typed array
const typedCounts: number[] = tokenizer.countBatchSync(['a'])
const gpt4oEncoding: EncodingName = encodingForModel('gpt-4o')
const modelName: ModelName = 'gpt-4o'
const stoppable = { signal: new AbortController().signal }
await Tokenizer.fromEncoding('cl100k_base', stoppable)
await Tokenizer.forModel('gpt-some-day', stoppable)
Tokenizer.fromEncodingSync(names[0] ?? '')
// @ts-expect-error a misspelt encoding
await Tokenizer.fromEncoding('o200k_bse')
// @ts-expect-error a misspelt encoding
Tokenizer.fromEncodingSync('o200k_bse')
// @ts-expect-error an unknown option
await Tokenizer.fromEncoding('o200k_base', { cache: true })
// @ts-expect-error pieces of paragraphs have no headings
tokenizer.split('a', { maxTokens: 5, boundary: 'paragraph' })[0]?.headings.length
function codeOf(caught: unknown): `ERR_TOKENLANE_${string}` | undefined {
  return isTokenlaneError(caught) ? caught.code : undefined
}
const someError: TokenlaneError | undefined = undefined
const isFull = ({ code }: TokenlaneError): boolean => code === 'ERR_TOKENLANE_QUEUE_FULL'
// @ts-expect-error a misspelt code
const isNearlyFull = ({ code }: TokenlaneError): boolean => code === 'ERR_TOKENLANE_QUEUE_FUL'
const streamedBlocks: TransformStream<string, Piece> = tokenizer.splitStream({ maxTokens: 5, boundary: 'markdown' })
const laterBlocks: Promise<Piece[]> = tokenizer.splitAsync('', {
  maxTokens: 5,
  boundary: 'paragraph',
  signal: AbortSignal.abort(),
})
