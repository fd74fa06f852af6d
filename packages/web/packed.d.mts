// A file that tools/platforms/web.mjs compressed with gzip, as base64.

export declare const base64: string
