/**
 * What a model wrote, as ids or text, as a message of chat completions: reasoning, content and
 * calls of tools, at once or while it is written.
 *
 * ```js
 * import { parseCompletion } from '@tokenlane/completions'
 *
 * const { message, damage } = parseCompletion(tokenizer, ids, { tools })
 * ```
 *
 * @module @tokenlane/completions
 */

/**
 * A tokenizer of tokenlane or `@tokenlane/web`, or what has these calls of one. Texts with a format
 * by name need none.
 */
export interface CompletionTokenizer {
  readonly eosId: number | undefined
  readonly specialTokens: ReadonlyMap<string, number>
  decodeStream(options?: { skipSpecialTokens?: boolean | undefined }): {
    push(ids: number | readonly number[] | Uint32Array): string
    end(): string
  }
  tokenToId(token: string): number | undefined
  idToToken(id: number): string | undefined
  vocabSize(options?: { addedTokens?: boolean | undefined }): number
  applyChatTemplate(messages: readonly object[], options: { tokenize: false }): string
}

/** An answer or a chunk of one: a text, ids, or one id. All chunks of a stream are of one kind. */
export type CompletionInput = string | number | readonly number[] | Uint32Array

/**
 * A tool in the form of chat completions, or its function alone. Tools of another type, which a
 * provider runs, are left out.
 */
export type CompletionTool =
  | { type?: string | undefined; function: { name: string; parameters?: object | undefined } }
  | { name: string; parameters?: object | undefined; input_schema?: object | undefined }
  | { type: string }

/** The name of a format, one of {@link formats}, or of models that have it, such as `'qwen3'`. */
export type FormatName = string

/** Options of {@link parseCompletion} and {@link completionStream}. */
export interface CompletionOptions {
  /** The format. Default: that of the chat template of the tokenizer ({@link formatFor}). */
  format?: FormatName | undefined
  /**
   * The tools of the request. They give the types of arguments that a model writes in tags, and
   * which of several readings is a call. Default: none, so that any name can be a tool.
   */
  tools?: readonly CompletionTool[] | undefined
  /**
   * Whether the answer begins within reasoning, because the prompt ends with its opening marker.
   * Default: as the chat template of the tokenizer ends its prompt, otherwise `'text'`;
   * {@link parseCompletion} also takes an answer that only closes reasoning for one that began
   * within.
   */
  startsIn?: 'text' | 'reasoning' | undefined
  /**
   * Returns the id of a call, by its index, if the model writes none. Default: a random one, with
   * nine letters and digits for Mistral, which refuses others. If it throws or returns no string,
   * the call does, and each later call of that stream throws the same error.
   */
  createId?: ((index: number) => string) | undefined
  /**
   * Whether arguments are checked against the schemas of `tools`: types, required and unknown
   * properties, enumerations; up to 100 problems of a call. Default: `false`.
   */
  checkArguments?: boolean | undefined
}

/** A call of a tool in the form of chat completions. */
export interface CompletionCall {
  id: string
  type: 'function'
  function: {
    name: string
    /** JSON, as the model wrote it if its format has JSON. */
    arguments: string
  }
}

/** A message in the form of chat completions, which the same model's chat template accepts. */
export interface CompletionMessage {
  role: 'assistant'
  /** `null` if there are calls and no text. */
  content: string | null
  reasoning_content?: string
  tool_calls?: CompletionCall[]
}

/**
 * What is wrong with an answer.
 *
 * | `kind` | |
 * |---|---|
 * | `arguments` | they are no JSON object, or are cut: `arguments` of the call has what was read |
 * | `call` | a section of calls that has none; its text is content, with the markers |
 * | `tool` | a call of a tool that `tools` does not have |
 * | `schema` | arguments do not match the schema of the tool: `problems` |
 * | `syntax` | no format has this text, or a call has a second name or id; only the part has it |
 * | `unclosed`, `unopened` | reasoning or calls without their closing or opening marker |
 * | `marker` | a closing marker where nothing is open; only the part has it |
 * | `header` | a message of harmony without its header, or a header without its message |
 * | `trailing` | text after the end of the answer; only the part has it |
 */
export interface Damage {
  kind: 'arguments' | 'call' | 'tool' | 'schema' | 'syntax' | 'unclosed' | 'unopened' | 'marker' | 'header' | 'trailing'
  /** The index of the part. */
  part: number
  /** The index of the call. */
  call?: number
  name?: string
  marker?: string
  problems?: string[]
}

/** A part of an answer as the model wrote it. The parts in a row are the answer. */
export interface CompletionPart {
  type: 'text' | 'reasoning' | 'toolCall' | 'syntax'
  raw: string
}

/** Why an answer ended: `'length'` if it ends within reasoning or a call. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter'

/** What {@link parseCompletion} returns. */
export interface ParsedCompletion {
  message: CompletionMessage
  finishReason: FinishReason
  parts: CompletionPart[]
  damage: Damage[]
}

/**
 * An event of {@link completionStream}. `arguments` of a `toolCall` is the text by which the
 * arguments grow; the first event of an index begins a call, one with `isDone` ends it. A call
 * begins when its name and id are known; Mistral's models before v11 write the id last.
 */
export type CompletionEvent =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'toolCall'; index: number; id: string; name: string; arguments: string; isDone?: true }
  | ({ type: 'damage' } & Damage)
  | { type: 'finish'; reason: FinishReason }

/** The names of all formats. */
export const formats: readonly string[]

/**
 * The name of the format of a tokenizer: the first by which an answer that its chat template writes
 * is read as the message that it was written for. The `response_template` of the repository comes
 * first, if its patterns are texts with a name, a key or a value between them; then the name is
 * `'response_template'`. Without any, it is `'plain'`: reasoning between tags, and calls in JSON.
 */
export function formatFor(tokenizer: CompletionTokenizer): string

/**
 * Reads an answer. A control token that the model wrote as an id is a marker, and the same
 * characters in a text are not; in a text without ids every marker counts, apart from those in
 * strings of arguments. Broken answers are no errors: `damage` says what is wrong, and `parts` have
 * every character. The time is linear in the answer.
 *
 * Errors are those of arguments: `ERR_TOKENLANE_ARGUMENT_TYPE`, `ERR_TOKENLANE_ARGUMENT_VALUE`,
 * `ERR_TOKENLANE_UNKNOWN_OPTION`, and those of `decodeStream` for an id that the tokenizer lacks.
 */
export function parseCompletion(
  tokenizer: CompletionTokenizer | undefined,
  answer: CompletionInput,
  options?: CompletionOptions,
): ParsedCompletion

/**
 * Reads an answer as it arrives. The events, with texts and arguments joined, do not depend on how
 * the answer is cut. With a source of chunks, the result yields the events.
 */
export function completionStream(
  tokenizer: CompletionTokenizer | undefined,
  options?: CompletionOptions,
): CompletionStream
export function completionStream(
  tokenizer: CompletionTokenizer | undefined,
  source: Iterable<CompletionInput> | AsyncIterable<CompletionInput>,
  options?: CompletionOptions,
): AsyncGenerator<CompletionEvent, void>

/** An answer that arrives; made by {@link completionStream}. */
export interface CompletionStream {
  /** The events that a chunk decides. A chunk that is refused changes nothing. */
  push(answer: CompletionInput): CompletionEvent[]
  /**
   * The remaining events, `finish` last. `finishReason` is what the engine says, such as
   * `'length'`. Default: what the answer shows.
   */
  end(options?: { finishReason?: FinishReason | undefined }): CompletionEvent[]
  /** The message so far. */
  readonly message: CompletionMessage
  /** The parts so far. */
  readonly parts: CompletionPart[]
  /** The damage so far. */
  readonly damage: Damage[]
  /** Why the answer ended; `undefined` before {@link end}. */
  readonly finishReason: FinishReason | undefined
}

/** A stream of events, chunks or parts. */
export type CompletionSource<T> = Iterable<T> | AsyncIterable<T>

/** What chunks and events of OpenAI's APIs say of their answer. */
export interface ResponseFacts {
  /** Default: `''`. */
  model?: string | undefined
  /** Default: `'chatcmpl-0'`, or `'resp_0'`. */
  id?: string | undefined
  /** Seconds since 1970. Default: 0. */
  created?: number | undefined
}

/** Events as stream parts of `LanguageModelV3` of the package `ai`, without usage. */
export function toAiSdk(events: CompletionSource<CompletionEvent>): AsyncGenerator<AiSdkPart, void>
/** Stream parts of `LanguageModelV3` as events. */
export function fromAiSdk(parts: CompletionSource<object>): AsyncGenerator<CompletionEvent, void>

/** A part that {@link toAiSdk} yields. */
export type AiSdkPart =
  | { type: 'stream-start'; warnings: [] }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | {
      type: 'finish'
      usage: {
        inputTokens: { total: undefined; noCache: undefined; cacheRead: undefined; cacheWrite: undefined }
        outputTokens: { total: undefined; text: undefined; reasoning: undefined }
      }
      finishReason: { unified: 'stop' | 'length' | 'tool-calls' | 'content-filter'; raw: string }
    }

/**
 * Events as chunks of OpenAI's chat completions, without usage. Reasoning is `reasoning_content`,
 * as other servers have it.
 */
export function toOpenAi(
  events: CompletionSource<CompletionEvent>,
  facts?: ResponseFacts,
): AsyncGenerator<OpenAiChunk, void>
/**
 * Chunks of chat completions as events; of several choices, the first. A call ends where text or
 * another call begins.
 */
export function fromOpenAi(chunks: CompletionSource<object>): AsyncGenerator<CompletionEvent, void>

/** A chunk that {@link toOpenAi} yields. */
export interface OpenAiChunk {
  id: string
  object: 'chat.completion.chunk'
  created: number
  model: string
  choices: [{ index: 0; delta: object; logprobs: null; finish_reason: FinishReason | null }]
}

/** Events as those of OpenAI's Responses API. */
export function toResponses(
  events: CompletionSource<CompletionEvent>,
  facts?: ResponseFacts,
): AsyncGenerator<{ type: string; sequence_number: number }, void>
/** Events of the Responses API as those of a completion. */
export function fromResponses(events: CompletionSource<object>): AsyncGenerator<CompletionEvent, void>

/** Events as the fields of LangChain's `AIMessageChunk`. */
export function toLangChain(events: CompletionSource<CompletionEvent>): AsyncGenerator<LangChainFields, void>
/** Chunks of LangChain as events. */
export function fromLangChain(chunks: CompletionSource<object>): AsyncGenerator<CompletionEvent, void>

/** What {@link toLangChain} yields, for `new AIMessageChunk(fields)`. */
export interface LangChainFields {
  content: string
  additional_kwargs?: { reasoning_content: string }
  tool_call_chunks?: { type: 'tool_call_chunk'; index: number; id?: string; name?: string; args: string }[]
  response_metadata?: { finish_reason: FinishReason }
}
