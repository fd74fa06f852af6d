// The example that counts as you type, in Chromium.

import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer as Native } from '../../../index.mjs'
import { servedPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { text } from '../../../__test__/support/texts.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const isBuilt = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'tokenlane.wasm'))
const skip = !isBuilt && 'npm run maintain -- web builds it'
const OPTIONS = { specialTokens: 'text' }

test('examples/counter counts each keystroke in 200 KB', { skip: skip || whyNot }, async (t) => {
  const types = { '.mjs': 'text/javascript', '.html': 'text/html', '.wasm': 'application/wasm' }
  const { page, address } = await servedPage(t, ({ url }, response) => {
    const name = new URL(url, 'http://a').pathname.replace('/node_modules/@tokenlane/', '/packages/')
    const file = path.join(root, path.normalize(name))
    if (!fs.existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[path.extname(file)] }).end(fs.readFileSync(file))
  })
  page.setDefaultTimeout(180_000)
  await page.goto(`${address}/examples/counter/index.html`)
  const native = Native.fromEncodingSync('o200k_base')
  const counted = (value) =>
    page
      .locator('#count')
      .filter({ hasText: `${native.count(value, OPTIONS)} tokens` })
      .waitFor()
  await counted('')
  const area = page.getByRole('textbox', { name: 'Text' })
  let value = text(200_000).replaceAll('\r', '')
  await area.fill(value)
  await counted(value)
  await area.evaluate((one) => one.setSelectionRange(90_000, 90_000))
  await area.pressSequentially('typed <|endoftext|> ')
  value = `${value.slice(0, 90_000)}typed <|endoftext|> ${value.slice(90_000)}`
  await counted(value)
  await area.press('Control+End')
  await area.press('Backspace')
  await counted(value.slice(0, -1))
  // How long the handler takes, without the layout of the page.
  const times = await area.evaluate((one) => {
    const all = []
    for (let key = 0; key < 200; key++) {
      one.setRangeText('x ', 1000 * key, 1000 * key, 'end')
      const start = performance.now()
      one.dispatchEvent(new Event('input'))
      all.push(performance.now() - start)
    }
    return all.sort((a, b) => a - b)
  })
  await counted(await area.inputValue())
  t.diagnostic(`a keystroke takes ${times[100].toFixed(2)} ms (median of 200; at most ${times[199].toFixed(2)})`)
})
