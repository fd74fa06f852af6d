// What tools/platforms/web.mjs bundles from src/core.mjs.

export * from '../src/core.mjs'
