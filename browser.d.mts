export * from './index.mjs'
