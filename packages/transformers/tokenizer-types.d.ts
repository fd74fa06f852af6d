// biome-ignore-all lint/suspicious/noExplicitAny: the typings of the package have any here.

// The types of tokenizers, their options and their results.

import type { ChatEntry } from 'tokenlane'

/**
 * The element type of a tensor. Tokenizers make `'int64'`.
 */
export type TensorType =
  | ('bool' | 'int8' | 'int16' | 'int32' | 'int64')
  | ('uint8' | 'uint16' | 'uint32' | 'uint64' | 'float32' | 'float64')

/** An array of a tensor's elements. */
export type TensorArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

/**
 * A tensor: the members that this class and `Tensor` of @huggingface/transformers have in common.
 * onnxruntime-node accepts it as an input.
 *
 * If @huggingface/transformers is installed, results have its class `Tensor`, so that its models
 * accept them. Otherwise they have this class. {@link Env.Tensor} sets another class.
 */
export class Tensor {
  /**
   * Throws an `Error` if the number of elements does not fit the dimensions
   * (`ERR_TOKENLANE_TENSOR_SHAPE`).
   *
   * @param data a typed array of the type, which is not copied, or an array of numbers
   */
  constructor(type: TensorType, data: TensorArray | readonly (number | bigint)[], dims: number[])
  /** The element type. */
  readonly type: TensorType
  /** The elements, row by row; for `'int64'` a `BigInt64Array`. */
  readonly data: any
  /** The size of each dimension. For the results of tokenizers it is `[rows, ids per row]`. */
  dims: number[]
  /** The number of elements. */
  readonly size: number
  /** Where the elements are. */
  readonly location: string;
  /**
   * A row: a tensor with one dimension less that shares the memory. A negative index counts from
   * the end.
   */
  [index: number]: Tensor
  /** The rows, or the elements of a tensor with one dimension. */
  [Symbol.iterator](): Iterator<any>
  /** The only element; throws if there are more (`ERR_TOKENLANE_TENSOR_SHAPE`). */
  item(): number | bigint
  /** The elements as nested arrays. Those of `'int64'` are bigints. */
  tolist(): any[]
  /** A copy. */
  clone(): Tensor
  /** Does nothing. In the package it releases the memory of a tensor on another device. */
  dispose(): void
}

/**
 * The settings of @huggingface/transformers that concern tokenizers. Assigning another setting
 * throws a `TypeError`.
 */
export interface Env {
  /** Whether `from_pretrained` looks for a folder first. Initially `true`. */
  allowLocalModels: boolean
  /**
   * A folder of models: `from_pretrained('org/name')` looks for `localModelPath/org/name` first.
   * Initially `undefined`.
   */
  localModelPath: string | undefined
  /** Whether files may be downloaded. If `false`, only the cache is used. Initially `true`. */
  allowRemoteModels: boolean
  /** The folder of cached repositories. Initially that of Python's `huggingface_hub`. */
  cacheDir: string | undefined
  /** The class of the results. If `undefined`, the class is as described at {@link Tensor}. */
  Tensor: (new (type: any, data: any, dims: number[]) => any) | undefined
}

/** The progress of a file. */
export interface ProgressInfo {
  /** The event. Each file has `initiate`, `download`, any number of `progress`, and `done`. */
  status: 'initiate' | 'download' | 'progress' | 'done'
  /** The name that was passed to `from_pretrained`. */
  name: string
  /** The name of the file. */
  file: string
  /** The percentage of the file, for `progress`. */
  progress?: number
  /** The number of bytes so far, for `progress`. */
  loaded?: number
  /** The number of bytes of the file, for `progress`. */
  total?: number
}

/** Options of `from_pretrained`. */
export interface PretrainedTokenizerOptions {
  /** A function that is called with the progress of each file. Default: none. */
  progress_callback?: ((info: ProgressInfo) => void) | null | undefined
  /** The folder of cached repositories. Default: {@link Env.cacheDir}. */
  cache_dir?: string | null | undefined
  /** Use only the cache and download nothing. Default: `false`. */
  local_files_only?: boolean | undefined
  /** A branch, a tag or a commit. Default: `'main'`. */
  revision?: string | undefined
}

/** One result: a tensor, or an array that is nested if several texts were passed. */
export type BatchEncodingItem<
  TText extends string | string[],
  TReturnTensor extends boolean = true,
> = TReturnTensor extends true ? Tensor : TText extends string ? number[] : number[][]

/** The inputs of a model. */
export interface BatchEncoding<TItem> {
  /** The ids. */
  input_ids: TItem
  /** 1 for ids, 0 for padding. */
  attention_mask: TItem
  /**
   * The number of the text in a pair. Only for models that have this input, or if it is requested.
   */
  token_type_ids?: TItem
  /** 1 for tokens that the assistant wrote. Only of `apply_chat_template`, if it is requested. */
  assistant_masks?: TItem
}

/** Options of the call `tokenizer(text, options)`. */
export interface TokenizerCallOptions<TText extends string | string[], TReturnTensor extends boolean = true> {
  /**
   * A second text for each text, encoded together with it. In a batch `null` stands for no second
   * text. Default: none.
   */
  text_pair?: (TText extends string ? string | null : (string | null)[] | null) | undefined
  /**
   * Fill short rows with the id of the tokenizer's `pad_token`. `true` fills them up to the longest
   * row, `'max_length'` up to `max_length`. Default: `false`.
   */
  padding?: boolean | 'longest' | 'max_length' | undefined
  /** Add the special tokens of the tokenizer. Default: `true`. */
  add_special_tokens?: boolean | undefined
  /**
   * Shorten long rows to `max_length`, but keep their special tokens. `true` means
   * `'longest_first'`. Default: `true` if there is a `max_length` and no `padding`, otherwise
   * `false`.
   */
  truncation?: boolean | 'longest_first' | 'only_first' | 'only_second' | null | undefined
  /**
   * A length in ids. Values above `model_max_length` have no effect. Default: `model_max_length`.
   */
  max_length?: number | null | undefined
  /**
   * Return tensors, for which all rows must have the same length. If `false`, return arrays.
   * Default: `true`.
   */
  return_tensor?: TReturnTensor | undefined
  /** Return `token_type_ids`. Default: `true` for the classes of models that have this input. */
  return_token_type_ids?: boolean | null | undefined
}

/** Options of `encode`. */
export interface EncodeOptions {
  /** A second text, encoded together with the first. Default: none. */
  text_pair?: string | null | undefined
  /** Add the special tokens of the tokenizer. Default: `true`. */
  add_special_tokens?: boolean | undefined
}

/** Options of `tokenize`. */
export interface TokenizeOptions {
  /** A second text, encoded together with the first. Default: none. */
  pair?: string | null | undefined
  /** Add the special tokens of the tokenizer. Default: `false`. */
  add_special_tokens?: boolean | undefined
}

/** Options of `decode` and `batch_decode`. */
export interface DecodeOptions {
  /** Leave special tokens out. Default: `false`. */
  skip_special_tokens?: boolean | undefined
  /**
   * Remove spaces before punctuation and contractions. Default: the setting of the
   * tokenizer_config.json, or `true` without one.
   */
  clean_up_tokenization_spaces?: boolean | null | undefined
}

/** A part of a message. */
export interface MessageContent {
  /** The kind of content: `'text'`, `'image'`, … */
  type: string
  /** Other fields that the template reads, such as `text`. */
  [key: string]: any
}

/** A message of a conversation. */
export interface Message {
  /** The author: `'user'`, `'assistant'`, `'system'`, … */
  role: string
  /** The text of the message, or its parts. */
  content?: string | null | MessageContent[]
  /** Other fields that the template reads. */
  [key: string]: any
}

/** Options of `apply_chat_template`. Other fields are variables of the template. */
export interface ApplyChatTemplateOptions<
  TTokenize extends boolean = true,
  TReturnTensor extends boolean = true,
  TReturnDict extends boolean = true,
> {
  /**
   * A template, or the name of one of the tokenizer's templates. Default: the tokenizer's template.
   */
  chat_template?: string | null | undefined
  /** The tools that the model may call, as JSON Schema. Default: none. */
  tools?: readonly object[] | null | undefined
  /** Documents for templates that support them. Default: none. */
  documents?: readonly object[] | null | undefined
  /** End with the start of an answer. Default: `false`. */
  add_generation_prompt?: boolean | undefined
  /** Leave the last message open, so that the model continues it. Default: `false`. */
  continue_final_message?: boolean | string | undefined
  /** Return ids. If `false`, return the text. Default: `true`. */
  tokenize?: TTokenize | undefined
  /** The same as in {@link TokenizerCallOptions}. Default: `false`. */
  padding?: boolean | 'longest' | 'max_length' | undefined
  /** The same as in {@link TokenizerCallOptions}. Default: `false`. */
  truncation?: boolean | undefined
  /** The same as in {@link TokenizerCallOptions}. Default: `model_max_length`. */
  max_length?: number | null | undefined
  /** Return tensors. If `false`, return arrays. Default: `true`. */
  return_tensor?: TReturnTensor | undefined
  /** Return a {@link BatchEncoding}. If `false`, return only its `input_ids`. Default: `true`. */
  return_dict?: TReturnDict | undefined
  /**
   * Add `assistant_masks`: 1 for each token in a `{% generation %}` block of the template, as in
   * Python's transformers; 0 for all without such blocks. Needs `tokenize` and `return_dict`.
   * Default: `false`.
   */
  return_assistant_tokens_mask?: boolean | undefined
  /** More options of the tokenizer's call. Default: none. */
  tokenizer_kwargs?: Partial<TokenizerCallOptions<string, boolean>> | undefined
  /** A variable of the template. Default: none. */
  [variable: string]: any
}

/** The result of `apply_chat_template`. */
export type ApplyChatTemplateReturn<
  TTokenize extends boolean = true,
  TReturnTensor extends boolean = true,
  TReturnDict extends boolean = true,
> = TTokenize extends false
  ? string
  : TReturnDict extends false
    ? BatchEncodingItem<string, TReturnTensor>
    : BatchEncoding<BatchEncodingItem<string, TReturnTensor>>

/** The encoding of one text, as arrays. */
export interface BackendEncoding {
  /** The ids. */
  ids: number[]
  /** The tokens, as the vocabulary writes them. */
  tokens: string[]
  /** 1 for each id. */
  attention_mask: number[]
  /** The number of the text in a pair, if it is requested. */
  token_type_ids?: number[]
}

/**
 * The tokenizer inside a {@link PreTrainedTokenizer}, with the calls of @huggingface/tokenizers.
 */
export interface TokenizerBackend {
  /** The ids, tokens and masks of a text. */
  encode(
    text: string,
    options?: EncodeOptions & { return_token_type_ids?: boolean | null | undefined },
  ): BackendEncoding
  /** The text of ids. */
  decode(token_ids: number[] | bigint[], options?: DecodeOptions): string
  /** The tokens of a text. Special tokens are only added if `add_special_tokens` is `true`. */
  tokenize(text: string, options?: EncodeOptions): string[]
  /** The id of a token, or `undefined`. */
  token_to_id(token: string): number | undefined
  /** The token of an id, or `undefined`. */
  id_to_token(id: number): string | undefined
  /** The added tokens by their ids, as in the tokenizer.json. */
  get_added_tokens_decoder(): Map<number, any>
  /** All tokens with their ids, without added tokens if `false` is passed. */
  get_vocab(with_added_tokens?: boolean): Map<string, number>
}

/**
 * A tokenizer, which is also a function: `tokenizer(text, options)` returns the inputs of a model.
 *
 * Throws a `TypeError` for arguments of the wrong type (`ERR_TOKENLANE_ARGUMENT_TYPE`), and an
 * `Error` for wrong values (`…_ARGUMENT_VALUE`), rows of different lengths (`…_TENSOR_SHAPE`),
 * padding without a padding token (`…_NO_SUCH_TOKEN`), and results that are too large
 * (`…_PADDING_TOO_LONG`: 2^27 ids in a tensor, 2^24 numbers in arrays).
 */
export interface PreTrainedTokenizer {
  // biome-ignore lint/style/useShorthandFunctionType: it is a part of the class.
  <TText extends string | string[], TReturnTensor extends boolean = true>(
    text: TText,
    options?: TokenizerCallOptions<TText, TReturnTensor>,
  ): BatchEncoding<BatchEncodingItem<TText, TReturnTensor>>
}
/**
 * A tokenizer. `AutoTokenizer.from_pretrained` makes it, or the constructor from the contents of
 * two files.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only adds the call.
export class PreTrainedTokenizer {
  /** Loads the tokenizer on this thread. Throws the errors of loading a tokenizer.json. */
  constructor(tokenizerJSON: object, tokenizerConfig: object)
  /** Like `AutoTokenizer.from_pretrained`, with the class on which it is called. */
  static from_pretrained(
    pretrained_model_name_or_path: string,
    options?: PretrainedTokenizerOptions,
  ): Promise<PreTrainedTokenizer>
  /** The tokenizer inside. */
  readonly _tokenizer: TokenizerBackend
  /** Whether calls return `token_type_ids` by default. */
  return_token_type_ids: boolean
  /** The side of padding. Initially that of the config, or `'right'` without one. */
  padding_side: string
  /** The content of the tokenizer_config.json. */
  config: any
  /** The token for a word that a model has to guess. A token that the config lacks is `null`. */
  mask_token: string
  /** Its id. The id of a token that the vocabulary lacks is `undefined`. */
  mask_token_id: number
  /** The token of padding. If the config has none, it is `eos_token`. */
  pad_token: string
  /** Its id. */
  pad_token_id: number
  /** The token between texts. */
  sep_token: string
  /** Its id. */
  sep_token_id: number
  /** The token for unknown words. */
  unk_token: string
  /** Its id. */
  unk_token_id: number
  /** The token before a text. */
  bos_token: string
  /** Its id. */
  bos_token_id: number
  /** The token after a text. */
  eos_token: string
  /** Its id. */
  eos_token_id: number
  /** The chat template, templates by their names, or `null`. */
  chat_template: any
  /** The ids of all special tokens. */
  get all_special_ids(): number[]
  /** All special tokens. */
  get all_special_tokens(): string[]
  /** `model_max_length` of the config, or `Infinity`. */
  get model_max_length(): number
  /** `add_eos_token` of the config. */
  get add_eos_token(): boolean | undefined
  /** `add_bos_token` of the config. */
  get add_bos_token(): boolean | undefined
  /**
   * All tokens with their ids, in the order of the ids. The call takes about as long as loading the
   * file.
   */
  get_vocab(): Map<string, number>
  /** The ids of tokens as the vocabulary writes them. The id of an unknown token is `undefined`. */
  convert_tokens_to_ids<T extends string | string[]>(tokens: T): T extends string ? number : number[]
  /** The same as calling the tokenizer, for subclasses. */
  _call<TText extends string | string[], TReturnTensor extends boolean = true>(
    text: TText,
    options?: TokenizerCallOptions<TText, TReturnTensor>,
  ): BatchEncoding<BatchEncodingItem<TText, TReturnTensor>>
  /** The tokens of a text, as the vocabulary writes them. */
  tokenize(text: string, options?: TokenizeOptions): string[]
  /** The ids of a text. */
  encode(text: string, options?: EncodeOptions): number[]
  /** The texts of several rows of ids. */
  batch_decode(batch: (number[] | bigint[])[] | Tensor, decode_args?: DecodeOptions): string[]
  /** The text of one or more ids. Unknown ids are skipped. */
  decode(token_ids: number[] | bigint[] | Tensor, decode_args?: DecodeOptions): string
  /** Like {@link decode}, but does not accept tensors. */
  decode_single(token_ids: number[] | bigint[], decode_args?: DecodeOptions): string
  /** The template that `apply_chat_template` uses with these options. */
  get_chat_template(options?: { chat_template?: string | null; tools?: object[] | null }): string
  /**
   * Renders a conversation as Python's transformers does, and encodes the text. Throws the errors
   * of `applyChatTemplate` of tokenlane's own API.
   */
  apply_chat_template<
    TTokenize extends boolean = true,
    TReturnTensor extends boolean = true,
    TReturnDict extends boolean = true,
  >(
    conversation: readonly (Message | ChatEntry)[],
    options?: ApplyChatTemplateOptions<TTokenize, TReturnTensor, TReturnDict>,
  ): ApplyChatTemplateReturn<TTokenize, TReturnTensor, TReturnDict>
}
