/**
 * Bounds of the cost of one render. Those of work and memory grow with the size of the variables,
 * up to three times the limit.
 */
export interface TemplateLimits {
  /** Steps of about 30 ns. Default: 6,000,000. `Infinity` is no limit. */
  maxChatWork?: number
  /** Bytes of all values that the template creates. Default: 128 MiB. */
  maxChatMemory?: number
  /** UTF-16 units of the rendered text. Default: 64 Mi. */
  maxChatOutput?: number
}

export interface RenderOptions {
  limits?: TemplateLimits
}

/** A part of the rendered text that has one origin. */
export interface TemplatePiece {
  /** The text. All pieces together are the rendered text. */
  text: string
  /**
   * Who wrote it: the template, or the caller with the variables. A piece whose origin cannot be
   * told, such as a number, is input.
   */
  source: 'template' | 'input'
  /** The index of the message in the variable `messages` that it comes from, if any. */
  message: number | undefined
}

/**
 * A chat template, with the language of jinja2 3.1 and the settings, filters and functions of
 * `apply_chat_template` of transformers 5.24 (`raise_exception`, `strftime_now`, `tojson`,
 * `{% generation %}`). It has no access to files, to the network or to objects of the program.
 */
export class Template {
  /**
   * Reads a template.
   *
   * @throws `ERR_TOKENLANE_CHAT_TEMPLATE` if it is not a template, `ERR_TOKENLANE_CHAT_LIMIT` if it
   *   has more than 524,288 UTF-16 units or is nested too deeply
   */
  constructor(source: string)

  /**
   * Renders the template.
   *
   * @param variables values of JSON, and functions with arguments by position; most templates read
   *   `messages`, `tools`, `documents`, `add_generation_prompt`, `bos_token` and `eos_token`
   * @throws `ERR_TOKENLANE_CHAT_REFUSED` if the template calls `raise_exception`,
   *   `ERR_TOKENLANE_CHAT_TEMPLATE` if it fails, `ERR_TOKENLANE_CHAT_LIMIT` beyond a limit; what a
   *   function of the caller throws
   */
  render(variables?: Record<string, unknown>, options?: RenderOptions): string

  /**
   * Renders the template to pieces that know who wrote them, so that control tokens in the text of
   * a user can be told from those of the template.
   */
  renderPieces(variables?: Record<string, unknown>, options?: RenderOptions): TemplatePiece[]
}
