// The version of this package, which jobs have in their job.json.

import { createRequire } from 'node:module'

export const VERSION = createRequire(import.meta.url)('../../package.json').version
