#!/usr/bin/env node
// npm run maintain: the commands that only maintainers need.
//
//   usage: npm run maintain                       lists the commands
//          npm run maintain -- NAME [ARGUMENTS]   runs one; its file has the usage

import { root, run, stop } from './setup.mjs'

/** The commands: what each does, and the command line that runs it. */
const COMMANDS = {
  'bench-core': ['measures the core on 64 MiB of text of each kind', 'node tools/bench/core.mjs'],
  'bench-memory': ['measures memory, writes docs/memory.md', 'node tools/bench/memory/bench.mjs'],
  peers: ['compares with other packages, draws the picture of README', 'node tools/bench/peers.mjs'],
  instructions: ['counts instructions, also on a busy machine', 'node tools/bench/instructions.mjs'],
  gguf: ['compares tokenizers of GGUF files with the pairs of llama.cpp', 'node tools/compare/gguf.mjs'],
  lint: ['formats and lints JavaScript', 'npx biome ci --error-on-warnings'],
  clippy: ['lints Rust', 'cargo clippy --workspace --all-targets -- -D warnings'],
  rustdoc: [
    'checks the documentation of the crates',
    "cargo doc --config build.rustdocflags=['-Dwarnings'] --workspace --no-deps --document-private-items",
  ],
  types: ['checks the types of JavaScript', 'node node_modules/typescript-7/bin/tsc -p tsconfig.checkjs.json'],
  cycles: ['finds cycles of modules', 'node tools/check/cycles.mjs'],
  widths: ['finds comments wider than 100 columns', 'node tools/check/widths.mjs'],
  clients: ['tests adapters with the newest client libraries', 'node tools/check/clients.mjs'],
  msrv: ['compiles with the oldest supported Rust', 'node tools/check/msrv.mjs'],
  fuzz: ['runs the fuzz targets', 'node tools/check/fuzz.mjs'],
  hostile: ['sends hostile calls, files, texts and templates', 'node tools/check/hostile.mjs'],
  'hostile-contents': ['judges chats whose contents spell out control tokens', 'node tools/check/hostile-contents.mjs'],
  mutants: [
    'plants faults in changed or sampled lines; lists those that no test finds',
    'node tools/check/mutants.mjs',
  ],
  properties: ['runs the property tests in Rust with other cases', 'node tools/check/properties.mjs'],
  'corpus-faults': [
    'repeats the specs of hosts, killed workers and jobs that start at once',
    'node tools/check/corpus-faults.mjs',
  ],
  sanitize: ['runs tests and specs with sanitizers', 'node tools/check/sanitize.mjs'],
  soak: ['runs a service under load for a long time', 'node tools/check/soak.mjs'],
  runtimes: ['runs scenarios on Node 20 to 26, Bun and Deno', 'node tools/check/runtimes.mjs'],
  levels: ['runs the specs at each CPU level', 'node tools/check/levels.mjs'],
  bundlers: ['bundles the packed package with each bundler', 'node tools/platforms/bundlers.mjs'],
  platforms: ["builds and inspects every platform's addon", 'node tools/platforms/platforms.mjs'],
  windows: ['runs the addon for Windows in wine', 'node tools/platforms/windows.mjs'],
  arm64: ['runs the addon for Linux on arm64 in qemu', 'node tools/platforms/arm64.mjs'],
  musl: ['runs the addon for musl', 'node tools/platforms/musl.mjs'],
  wasm: ['builds and tests the addon in WebAssembly', 'node tools/platforms/wasm.mjs'],
  web: ['builds the part for pages and edge runtimes', 'node tools/platforms/web.mjs'],
  site: ['writes the page as a static site over that part', 'node tools/docs/site.mjs'],
  'web-golden': ['judges that part in Chromium by the golden data', 'node tools/platforms/web-golden.mjs'],
  'web-runtimes': ['runs that part in runtimes of the web and in bundles', 'node tools/platforms/web-runtimes.mjs'],
  targets: [
    'compiles for macOS and Windows',
    'cargo check --workspace --no-default-features --target x86_64-apple-darwin --target aarch64-apple-darwin --target x86_64-pc-windows-msvc --target aarch64-pc-windows-msvc',
  ],
  rehearse: ['publishes to a registry on this machine and installs from it', 'node tools/release/rehearse.mjs'],
  'docs-api': ['writes docs/api from the typings', 'npx typedoc --options docs/typedoc.json'],
  'docs-cli': ['writes the options of docs/guide/cli.md', 'node tools/docs/cli-options.mjs'],
}

const [name, ...rest] = process.argv.slice(2)
if (name === undefined) {
  const width = Math.max(...Object.keys(COMMANDS).map(({ length }) => length))
  for (const [command, [what]] of Object.entries(COMMANDS)) console.log(`${command.padEnd(width)}  ${what}`)
} else {
  if (!Object.hasOwn(COMMANDS, name)) stop(`there is no command ${name}; "npm run maintain" lists them`)
  const [program, ...given] = COMMANDS[name][1].split(' ')
  process.exit(run(program, [...given, ...rest], { cwd: root }) ? 0 : 1)
}
