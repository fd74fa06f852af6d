// What tools/platforms/web.mjs reads from the WebAssembly module.

export declare const BITS: Record<string, number>
export declare const COLUMN_NAMES: string[]
export declare const ENCODINGS: Record<string, { file: string; pattern: string; specialTokens: Record<string, number> }>
