// See browser.mjs.

export * from '@tokenlane/web'
