// Messages, arguments and options of the calls about chats in index.d.ts.

/**
 * The fields that every message of a conversation has. The messages of OpenAI, Anthropic and `ai`
 * are of this type.
 */
export interface ChatMessageFields {
  /** Mostly `'system'`, `'user'`, `'assistant'` or `'tool'`. */
  readonly role: string
  /** The content: text, or parts that the template knows, such as `{ type: 'text', text: '…' }`. */
  readonly content?: string | object | null | undefined
}

/**
 * An entry of a conversation that has a type instead of a role: a message of LangChain, an item of
 * OpenAI's Responses. Only templates that read these fields render it.
 */
export interface ChatItemFields {
  /** Such as `'human'` or `'function_call'`. */
  readonly type: string
  /** The content, as in a message. */
  readonly content?: string | object | null | undefined
}

/**
 * One message of a conversation. A field that is `null` is none for the template. Templates may use
 * further fields.
 */
export interface ChatMessage extends ChatMessageFields {
  role: string
  content?: string | object | null | undefined
  [field: string]: unknown
}

/** What a conversation consists of. Its interfaces need no index signature. */
export type ChatEntry = ChatMessage | ChatMessageFields | ChatItemFields

/** Options of chat calls. */
export interface ChatOptions {
  /** Functions that the model may call, as JSON Schema. Default: none. */
  tools?: readonly object[] | null | undefined
  /** Documents that the model may use. Default: none. */
  documents?: readonly object[] | null | undefined
  /**
   * A template in Jinja, or the name of one of the tokenizer's templates. Default: its only
   * template; of several, `tool_use` if there are tools, else `default`.
   */
  chatTemplate?: string | undefined
  /** End with the start of an answer. Default: `false`. */
  addGenerationPrompt?: boolean | undefined
  /**
   * End inside the last message, so that a model continues it; a string names another field than
   * `content`. Excludes `addGenerationPrompt`. Default: `false`.
   */
  continueFinalMessage?: boolean | string | undefined
  /**
   * Further variables of the template, such as `enable_thinking`; it can call functions among them.
   * Default: none.
   */
  variables?: object | undefined
  /**
   * What becomes of added tokens, such as `<|im_end|>`, that are spelled out in messages, tools,
   * documents and variables, or put together from parts of them:
   * - `'text'`: they are ordinary text; only the template writes control tokens.
   * - `'parse'`: they become tokens, as in transformers. Only for text that you wrote yourself.
   * - `'throw'`: the call throws `ERR_TOKENLANE_SPECIAL_TOKEN`, with the place if one string has
   *   the token.
   *
   * Default: `'text'`.
   */
  content?: 'text' | 'parse' | 'throw' | undefined
}

/** Options of {@link Tokenizer.applyChatTemplate} for ids. */
export interface ChatIdsOptions extends ChatOptions {
  /** Return ids. Default: `true`. */
  tokenize?: true | undefined
  /** Default: `false`. */
  pieces?: false | undefined
  /**
   * Add the columns of {@link ChatEncoding}. `by` says how it is found what the assistant wrote:
   * - `'generation'`: by the tags `{% generation %}` of the template, exactly as
   *   `return_assistant_tokens_mask` of transformers. Throws `ERR_TOKENLANE_CHAT_REFUSED` if the
   *   template has none.
   * - `'origin'`: an answer is what the conversation up to it, rendered with
   *   `addGenerationPrompt`, lacks of the conversation with it. Where a template does not only
   *   append, it is what the template writes for a message of the assistant, without the
   *   generation prompt and without text of other messages.
   *
   * `true` takes the tags if the template has them, else the origin. Default: `false`.
   */
  returnAssistantMask?: boolean | ChatMaskOptions | undefined
}

/** How it is found what the assistant wrote. */
export interface ChatMaskOptions {
  /** Default: the tags if the template has them, else the origin. */
  by?: 'generation' | 'origin' | undefined
}

/** Options of {@link Tokenizer.applyChatTemplate} for a text. */
export interface ChatTextOptions extends ChatOptions {
  /** Return the text. */
  tokenize: false
  /** Return the text in pieces that say where they come from. Default: `false`. */
  pieces?: boolean | undefined
}

/** A part of the text of a conversation. */
export interface ChatPiece {
  /** The text. All pieces together are the text of the conversation. */
  text: string
  /**
   * Who wrote it: the template, or the caller with messages, tools, documents and variables. A
   * piece whose origin cannot be told, such as a number, is input.
   */
  source: 'template' | 'input'
  /** The index of the message that it comes from, if it comes from one. */
  message: number | undefined
}

/** The size of an image in pixels. */
export interface ImageSize {
  /** Whole number of pixels from left to right. */
  width: number
  /** Whole number of pixels from top to bottom. */
  height: number
}

/** Options of {@link Tokenizer.countChat}. `model` and `imageSize` are for encodings of OpenAI. */
export interface CountChatOptions extends ChatOptions {
  /**
   * The model, such as `'gpt-4.1-mini'`, whose images are counted. Default: the model that
   * {@link Tokenizer.forModel} was called with.
   */
  model?: string | undefined
  /**
   * Returns the size of an image in pixels by its URL. Default: the size is read from a `data:` URL
   * with a PNG, JPEG, GIF or WebP, which also happens if the function returns `undefined`.
   */
  imageSize?: ((url: string) => ImageSize | undefined) | undefined
}
