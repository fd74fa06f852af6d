// Replaces lib/internal/requests.js in the bundle of @tokenlane/requests: the same functions, those of
// @tokenlane/web, so that its limits hold.

import { requests } from '../dist/core.mjs'

export default requests
