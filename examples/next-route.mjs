// A route of Next.js, app/api/tokens/route.js: returns the number of tokens of posted messages, and
// whether they fit into the context of a model. Addons are not bundled: next.config.mjs should have
// `serverExternalPackages: ['tokenlane']`. The route needs the Node.js runtime, not the edge
// runtime.

import { Tokenizer } from 'tokenlane'

export const runtime = 'nodejs'

const CONTEXT = 128_000

// Development servers load this module repeatedly. Loading is cheap after the first time, because
// equal tokenizers share their memory.
const loading = Tokenizer.fromEncoding('o200k_base')

export async function POST(request) {
  const tokenizer = await loading
  try {
    const tokens = tokenizer.countChat(await request.json())
    return Response.json({ tokens, fits: tokens <= CONTEXT })
  } catch (error) {
    return Response.json({ code: error.code, message: error.message }, { status: 400 })
  }
}
