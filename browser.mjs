// What package.json selects where no addon runs: pages, workers and edge runtimes. The package
// @tokenlane/web, which a bundler names if it is not installed, has the WebAssembly module.

export * from '@tokenlane/web'
