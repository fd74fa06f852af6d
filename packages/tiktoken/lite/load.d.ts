export * from '../load.js'
