// Replaces lib/internal/requests.js in the bundle of @tokenlane/requests: the functions of the same
// module in @tokenlane/web, so that its limits hold.

import { requests } from '../dist/core.mjs'

export default requests
