// What the commands of other packages use, as `tokenlane/internal/cli.mjs`. Not for users: it
// changes without notice, and the packages have the same version.

export { barOf, stopBars } from './bar.mjs'
export { ENCODE_OPTIONS, QUIET, RATIO_OPTION, THREADS } from './commands/options.mjs'
export { UsageError } from './failure.mjs'
export { interruptible, onFirstSignal } from './interrupt.mjs'
export { mib, number, plural } from './numbers.mjs'
export { openOutput } from './output/file.mjs'
export { refuseInput, statOf } from './output/same-file.mjs'
export { duration } from './progress.mjs'
export { COLOUR_OPTION, forOutput, hasColours, marked, nameForOutput, oneLine, print } from './terminal.mjs'
export { TOKENIZER_OPTIONS } from './tokenizers.mjs'
