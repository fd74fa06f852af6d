// What tools/platforms/web.mjs bundles from web/core.mjs.

export * from '../core.mjs'
