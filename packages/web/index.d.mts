// The typings of @tokenlane/web: those of the package, without files, folders and the hub.

import { EncodingOptions as LoadingOptions, Tokenizer as FullTokenizer } from './types/index.js'

export {
  Batch,
  ChatEncoding,
  DecodeStream,
  Encoding,
  Limits,
  LiveText,
  QueueStats,
  TokenlaneError,
  encodingForModel,
  encodings,
  isTokenlaneError,
  limits,
  queue,
} from './types/index.js'
export * from './types/lib/chat-types.js'
export * from './types/lib/error-codes.js'
export * from './types/lib/file-types.js'
export * from './types/lib/model-names.js'
export * from './types/lib/option-types.js'

/**
 * The packed rank file of an encoding: the file `@tokenlane/web/NAME.bin`, also without its
 * compression, or what `@tokenlane/web/NAME` exports.
 */
export type EncodingData = ArrayBuffer | ArrayBufferView | Response

export interface EncodingOptions extends LoadingOptions {
  /** The packed rank file, or a promise of it. By default the module of the package is imported. */
  data?: EncodingData | Promise<EncodingData> | undefined
}

type Loaders = 'fromFile' | 'fromFileSync' | 'fromPretrained' | 'fromEncodingSync' | 'forModelSync'

/** Converts text to ids and back: the calls of the package, on this thread. */
export type Tokenizer = FullTokenizer
export declare const Tokenizer: Omit<typeof FullTokenizer, Loaders | 'prototype' | 'fromEncoding' | 'forModel'> & {
  readonly prototype: FullTokenizer
  /** Loads a bundled encoding. */
  fromEncoding(name: string, options?: EncodingOptions): Promise<FullTokenizer>
  /** Loads the encoding of a model of OpenAI. */
  forModel(name: string, options?: EncodingOptions): Promise<FullTokenizer>
}

/** `WebAssembly.Module`; projects for Node without the library of the DOM do not declare it. */
export type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } }
  ? Module
  : object

/**
 * Compiles the WebAssembly module. The asynchronous loaders do this by themselves; call it before
 * `Tokenizer.fromBufferSync`, or with a module of your own.
 *
 * @param source the compiled module, its bytes, a Response, a URL, or a promise of one of these; by
 *   default the file of the package
 */
export function init(
  source?:
    | WasmModule
    | ArrayBuffer
    | ArrayBufferView
    | Response
    | URL
    | string
    | Promise<WasmModule | ArrayBuffer | ArrayBufferView | Response>,
): Promise<void>
