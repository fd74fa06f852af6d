// A route of Next.js, app/api/tokens/route.js: returns the number of tokens of posted messages, and
// whether they fit into the context of a model. Addons are not bundled: next.config.mjs should have
// `serverExternalPackages: ['tokenlane', '@tokenlane/requests']`. The route needs the Node.js
// runtime, not the edge runtime.

import { countRequest } from '@tokenlane/requests'
import { Tokenizer } from 'tokenlane'

export const runtime = 'nodejs'

const CONTEXT = 128_000
/** Bytes of a body. */
const MAX_BODY = 8 << 20

// Development servers load this module repeatedly. Loading is cheap after the first time, because
// equal tokenizers share their memory.
const loading = Tokenizer.fromEncoding('o200k_base')

/** The body of a request, of which no more than the limit is read. */
async function bodyOf(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BODY) throw refusal('BODY_TOO_LARGE', `a body may have ${MAX_BODY} bytes`)
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch (error) {
    // Not always a SyntaxError: values that are nested too deeply use up the stack.
    throw refusal('BODY_NOT_JSON', error.message)
  }
}

const refusal = (code, message) => Object.assign(new Error(message), { code })

/** Codes of tokenlane are of what the client sent, except for two. */
function statusOf({ code }) {
  if (code === 'BODY_TOO_LARGE') return 413
  return code === 'BODY_NOT_JSON' || /^ERR_TOKENLANE_(?!OUT_OF_MEMORY|PANIC)/.test(code) ? 400 : 500
}

export async function POST(request) {
  const tokenizer = await loading
  try {
    const { tokens } = countRequest(tokenizer, { messages: await bodyOf(request) })
    return Response.json({ tokens, fits: tokens <= CONTEXT })
  } catch (error) {
    return Response.json({ code: error.code, message: error.message }, { status: statusOf(error) })
  }
}
