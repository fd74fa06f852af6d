/**
 * The special tokens of OpenAI's encodings.
 *
 * @module tokenlane/gpt-tokenizer/specialTokens
 */

/** Where a document ends. */
export const EndOfText: '<|endoftext|>'
/** Before the text that a hole follows. */
export const FimPrefix: '<|fim_prefix|>'
/** Where the model fills the hole. */
export const FimMiddle: '<|fim_middle|>'
/** Before the text that follows the hole. */
export const FimSuffix: '<|fim_suffix|>'
/** Where a message starts. */
export const ImStart: '<|im_start|>'
/** Where a message ends. */
export const ImEnd: '<|im_end|>'
/** Between a message's role and its content. */
export const ImSep: '<|im_sep|>'
/** Where a prompt ends. */
export const EndOfPrompt: '<|endofprompt|>'
/** Harmony: where a text starts. */
export const HarmonyStartOfText: '<|startoftext|>'
/** Harmony: where a message starts. */
export const HarmonyStart: '<|start|>'
/** Harmony: where a message ends. */
export const HarmonyEnd: '<|end|>'
/** Harmony: before a message's content. */
export const HarmonyMessage: '<|message|>'
/** Harmony: before the channel. */
export const HarmonyChannel: '<|channel|>'
/** Harmony: where the answer ends. */
export const HarmonyReturn: '<|return|>'
/** Harmony: before the format of the content. */
export const HarmonyConstrain: '<|constrain|>'
/** Harmony: where a call of a tool ends. */
export const HarmonyCall: '<|call|>'
