/**
 * The special tokens of OpenAI's encodings.
 *
 * @module @tokenlane/gpt-tokenizer/specialTokens
 */

/** Ends a document. */
export const EndOfText: '<|endoftext|>'
/** Fill in the middle: precedes the text before the gap. */
export const FimPrefix: '<|fim_prefix|>'
/** Fill in the middle: the model writes the text of the gap after this token. */
export const FimMiddle: '<|fim_middle|>'
/** Fill in the middle: precedes the text after the gap. */
export const FimSuffix: '<|fim_suffix|>'
/** Starts a message. */
export const ImStart: '<|im_start|>'
/** Ends a message. */
export const ImEnd: '<|im_end|>'
/** Separates the role and the content of a message. */
export const ImSep: '<|im_sep|>'
/** Ends a prompt. */
export const EndOfPrompt: '<|endofprompt|>'
/** Harmony: starts a text. */
export const HarmonyStartOfText: '<|startoftext|>'
/** Harmony: starts a message. */
export const HarmonyStart: '<|start|>'
/** Harmony: ends a message. */
export const HarmonyEnd: '<|end|>'
/** Harmony: precedes the content of a message. */
export const HarmonyMessage: '<|message|>'
/** Harmony: precedes the channel. */
export const HarmonyChannel: '<|channel|>'
/** Harmony: ends the answer. */
export const HarmonyReturn: '<|return|>'
/** Harmony: precedes the format of the content. */
export const HarmonyConstrain: '<|constrain|>'
/** Harmony: ends a tool call. */
export const HarmonyCall: '<|call|>'
