// Text of a hub in messages, which go into logs: without the token and without control characters.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { inspect } from 'node:util'

const { network, refused, unexpected } = createRequire(import.meta.url)('../../lib/hub/errors.js')

const about = { repo: 'a/b', revision: 'main', path: 'x', endpoint: 'https://hub' }
const answer = (status, text) => ({ status, headers: new Headers({ 'x-error-message': text }) })

test('a hub that repeats the token does not put it into messages', () => {
  for (const token of ['hf_abcdefghijklmnop', 'secret-of-another-hub', 'short']) {
    const texts = [
      `token ${token} is not valid`,
      `${'x'.repeat(190)}${token}`,
      `${token}${token}`,
      `cut off: ${token.slice(0, Math.max(8, token.length - 3))}`,
    ]
    for (const text of texts) {
      const cause = new SyntaxError(`Unexpected token in ${text}`, { cause: new Error(text) })
      const failures = [
        ...[401, 403, 500, 418].map((status) => refused(answer(status, text), { ...about, token })),
        unexpected(text, about.endpoint, { cause, token }),
        network(cause, about.endpoint, token),
      ]
      for (const failure of failures) {
        assert.ok(!inspect(failure, { depth: 9 }).includes(token.slice(0, 8)), `${failure.message}`)
        assert.match(failure.code, /^ERR_TOKENLANE_HUB_/)
      }
    }
  }
})

test('text of a hub has no control characters in messages', () => {
  // Headers decode bytes as Latin-1, so C1 controls pass.
  const failure = refused({ status: 500, headers: { get: () => 'a\u001b[31mb\u009bc\u202ed' } }, about)
  assert.match(failure.message, /\(a\ufffd\[31mb\ufffdc\ufffdd\)/)
})
