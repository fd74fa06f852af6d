// A route of Next.js, app/api/tokens/route.js: POST messages, get their tokens, and whether they fit a model. Addons are not bundled:
// next.config.mjs has to say `serverExternalPackages: ['tokenlane']`, and the route runs in Node, not at the edge.

import { Tokenizer } from 'tokenlane'

export const runtime = 'nodejs'

const CONTEXT = 128_000

// A module is loaded once, but development servers load it again: what is loaded already is shared in memory.
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
