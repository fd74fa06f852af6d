// What the page takes besides a text: chats, ids and a price; with its server, and as a static
// site.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Tokenizer } from '../../../index.mjs'
import { costOf } from '../page/price.mjs'
import { numbersOf } from '../page/ids.mjs'
import { fragmentOf, viewOf } from '../page/link.mjs'
import { answersOf } from '../src/answers.mjs'
import { launch, openPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { folderWithTokenizer, servePage } from '../../../__test__/support/cli.mjs'
import { bytesOf, tiny } from '../../../__test__/support/tiny.mjs'

const chatTemplate =
  '{% for m in messages %}<s>{{ m.content }}{% endfor %}{% if add_generation_prompt %}</s>{% endif %}'
const tokenizer = Tokenizer.fromBufferSync(bytesOf(tiny()), { chatTemplate })
const openAi = Tokenizer.fromEncodingSync('r50k_base')
const cl100k = Tokenizer.fromEncodingSync('cl100k_base')
const known = { tiny: tokenizer, r50k_base: openAi, cl100k_base: cl100k }
const answers = answersOf({ names: Object.keys(known), load: async (name) => known[name] })
const ask = (body, what = 'tokens') => answers[`POST ${what}`](body)
const chat = (...contents) => contents.map((content) => ({ role: 'user', content }))

// The browser starts first: hooks of the file run when its first tests have ended.
if (whyNot) test('the modes in Chromium', { skip: whyNot }, () => {})
else await inChromium()

test('a chat: the text of the template, its tokens, and the message of each', async () => {
  const body = { tokenizer: 'tiny', mode: 'chat', messages: chat('hello', 'hell</s>') }
  const { text, count, tokens } = await ask(body)
  assert.equal(text, '<s>hello<s>hell</s></s>')
  const seen = tokens.map(({ token, kind, message }) => [token, kind, message])
  assert.deepEqual(seen.slice(0, 4), [
    ['<s>', 'special', null],
    ['hello', 'text', 0],
    ['<s>', 'special', null],
    ['hell', 'text', 1],
  ])
  assert.deepEqual(seen.at(-1), ['</s>', 'special', null])
  // What a message spells out is text.
  assert.equal(tokens.filter(({ token }) => token === '</s>').length, 1)
  assert.deepEqual(await ask(body, 'ids'), [
    ...tokenizer.applyChatTemplate(body.messages, { addGenerationPrompt: true }).ids,
  ])
  assert.equal(count, (await ask(body, 'ids')).length)
})

test('a chat without a template has the count of OpenAI, or the reason', async () => {
  const messages = chat('hello')
  const { count, refused } = await ask({ tokenizer: 'cl100k_base', mode: 'chat', messages })
  assert.equal(count, cl100k.countChat(messages))
  assert.match(refused, /^Counted by OpenAI's rules/)
  for (const wrong of [undefined, 'a', Array(1001).fill(messages[0])])
    await assert.rejects(ask({ tokenizer: 'tiny', mode: 'chat', messages: wrong }), { status: 400 })
  const none = await ask({ tokenizer: 'tiny', mode: 'chat', messages: [] })
  assert.match(none.refused, /at least one message/)
  assert.equal(none.count, undefined)
})

test('ids: their text and the place of each', async () => {
  const ids = [11, 12, 13, 14]
  const { text, tokens, count } = await ask({ tokenizer: 'tiny', mode: 'ids', ids })
  assert.equal(text, tokenizer.decode(ids))
  assert.deepEqual([count, tokens.map(({ id }) => id)], [4, ids])
  assert.deepEqual([tokens[0].start, tokens[0].end, tokens[3].kind], [0, 5, 'special'])
  assert.match((await ask({ tokenizer: 'r50k_base', mode: 'ids', ids: [4_000_000] })).refused, /4000000/)
  for (const wrong of [undefined, [1.5], [-1], ['1'], Array(200_001).fill(1)])
    await assert.rejects(ask({ tokenizer: 'tiny', mode: 'ids', ids: wrong }), { status: 400 })
})

test('ids are read as code and logs print them, and nothing is turned into an id', async () => {
  assert.deepEqual(numbersOf('[1, 2,3]'), { ids: [1, 2, 3], others: [] })
  assert.deepEqual(numbersOf('{"attention": 1, "input_ids": [101, 102]}'), { ids: [101, 102], others: [] })
  const tensor = "tensor([[5, 6]], device='cuda:0', dtype=torch.int64)"
  assert.deepEqual(numbersOf(tensor), { ids: [5, 6], others: [] })
  assert.deepEqual(numbersOf(' \n'), { ids: [], others: [] })
  for (const text of ['5 -1', '5 1.5', '5 99999999999']) {
    const answer = ask({ tokenizer: 'tiny', mode: 'ids', ids: numbersOf(text).ids })
    await assert.rejects(answer, { status: 400, message: /^ids\[1\] is no id/ })
  }
})

test('what is no number among ids is named, and is no id', () => {
  assert.deepEqual(numbersOf('ids 7 8\n9 x10 int64 ]['), { ids: [7, 8, 9], others: ['ids', 'x10', 'int64'] })
  assert.deepEqual(numbersOf('[1, two, 3e, null]'), { ids: [1], others: ['two', '3e', 'null'] })
  assert.deepEqual(numbersOf('hello'), { ids: [], others: ['hello'] })
  assert.deepEqual(numbersOf('海 1️⃣ 2'), { ids: [2], others: ['海', '1️⃣'] })
})

test('a price has its currency, and a link has the mode and the price', () => {
  assert.equal(costOf('$2.50', 4), '$0.00001')
  assert.equal(costOf('0,60 €', 2_000_000), '1.20 €')
  assert.equal(costOf('3', 1_000_000), '3.00')
  for (const none of ['', 'x', '1.2.3', '-']) assert.equal(costOf(none, 1), undefined)
  const view = { text: '[]', tokenizers: ['a'], ids: false, at: 0, mode: 'chat', price: '$2.50' }
  assert.deepEqual(viewOf(fragmentOf(view).fragment), view)
  assert.equal(viewOf('#mode=other').mode, undefined)
  // The id of an element.
  assert.deepEqual(viewOf('#text'), {})
})

async function inChromium() {
  const folder = folderWithTokenizer()
  fs.mkdirSync(path.join(folder, 'model'))
  fs.renameSync(path.join(folder, 'tiny.json'), path.join(folder, 'model', 'tokenizer.json'))
  fs.writeFileSync(path.join(folder, 'model', 'chat_template.jinja'), chatTemplate)
  const { child, url } = await servePage(folder, ['model', 'o200k_base'])
  const browser = await launch()
  test.after(async () => {
    await browser.close()
    child.kill()
  })

  const open = (place, options = {}) => openPage(browser, place, options)
  const has = (page, pane, text) => page.locator('.counts strong').nth(pane).filter({ hasText: text }).waitFor()

  test('a chat, ids and a price on the page', async () => {
    const { page, wrong, close } = await open(url)
    await page.getByRole('button', { name: 'Chat', exact: true }).click()
    await page.locator('.pane').nth(1).filter({ hasText: "by OpenAI's rules" }).waitFor()
    const sample = [
      { role: 'system', content: 'Answer in one sentence.' },
      { role: 'user', content: 'Why is the sky blue? <|im_end|>' },
      { role: 'assistant', content: 'Air scatters blue light more than red light.' },
      { role: 'user', content: 'And the sunset?' },
    ]
    const o200k = Tokenizer.fromEncodingSync('o200k_base')
    await has(page, 1, new RegExp(`^${o200k.countChat(/** @type {any} */ (sample))} tokens$`))
    const rows = page.locator('.message')
    while ((await rows.count()) > 1) await rows.first().getByRole('button').click()
    await rows.getByRole('textbox').fill('hello')
    await has(page, 0, /^3 tokens$/)
    await page.locator('#pane0-1').hover()
    assert.match(await page.locator('.detail').first().innerText(), /origin\s+message 1, user/)
    await page.locator('#pane0-0').hover()
    assert.match(await page.locator('.detail').first().innerText(), /origin\s+written by the template/)
    await page.locator('#price').fill('$1000000')
    await page.locator('.counts').first().filter({ hasText: '$3.00' }).waitFor()

    await page.getByRole('button', { name: 'Ids', exact: true }).click()
    await page.getByRole('textbox', { name: 'Ids' }).fill('[11, 12]')
    await has(page, 0, /^2 tokens$/)
    assert.equal(await page.locator('.tokens').first().innerText(), 'hello·w')
    await page.getByRole('textbox', { name: 'Ids' }).fill('11 twelve 12')
    await page.getByText(/UTF-8\. Left out, because they are no numbers: twelve$/).waitFor()
    await has(page, 0, /^2 tokens$/)
    await page.getByRole('textbox', { name: 'Ids' }).fill('hello')
    await page.locator('.tokens').first().filter({ hasText: 'There are no ids here' }).waitFor()
    assert.equal(await page.locator('.bars [role=option]').count(), 0)
    await page.getByRole('textbox', { name: 'Ids' }).fill('[11, 12]')
    await has(page, 0, /^2 tokens$/)
    await page.evaluate(() => (location.hash = '#mode=chat'))
    await page.locator('.chat').waitFor()
    await page.getByRole('button', { name: 'Ids', exact: true }).click()
    assert.equal(await page.getByRole('textbox', { name: 'Ids' }).inputValue(), '[11, 12]')
    await page.locator('.skip').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/#text$/)
    assert.equal(await page.getByRole('textbox', { name: 'Ids' }).inputValue(), '[11, 12]')
    await page.getByRole('button', { name: 'Text', exact: true }).click()
    await page.locator('.tokens').nth(1).filter({ hasText: 'Tokens' }).waitFor()
    assert.deepEqual(wrong, [])
    await close()
  })

  test('heads of both panes align; a text beyond the limit has no chart', async () => {
    for (const width of [1080, 1280]) {
      const { page, close } = await open(url, { viewport: { width, height: 900 } })
      const tops = (selector) =>
        page.locator(selector).evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)))
      for (const selector of ['.pane select', '.pane .copy', '.pane .counts', '.tokens']) {
        const [first, second] = await tops(selector)
        assert.equal(first, second, `${selector} at ${width}`)
      }
      const [select] = await tops('.pane select')
      const [copy] = await tops('.pane .copy')
      assert.ok(Math.abs(select - copy) < 12, 'the button has no row of its own')
      if (width === 1280) {
        await page.evaluate(() => {
          const text = 'x'.repeat((4 << 20) + 1)
          const data = new DataTransfer()
          data.setData('text/plain', text)
          const field = document.getElementById('text')
          field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, cancelable: true }))
        })
        await page.locator('.tokens').first().filter({ hasText: 'This page accepts texts' }).waitFor()
        assert.equal(await page.locator('.bars [role=option]').count(), 0)
      }
      await close()
    }
  })

  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const skip = fs.existsSync(path.join(root, 'packages', 'web', 'dist', 'core.mjs'))
    ? false
    : 'npm run maintain -- web builds it'
  test('the static site works from a server of files alone', { skip }, async (context) => {
    const { spawnSync } = await import('node:child_process')
    const site = path.join(folder, 'site')
    const result = spawnSync(process.execPath, [path.join(root, 'tools/docs/site.mjs'), site], { encoding: 'utf8' })
    assert.equal(result.status, 0, result.stderr)
    const types = { html: 'text/html', css: 'text/css', mjs: 'text/javascript', svg: 'image/svg+xml' }
    const server = http.createServer((request, response) => {
      const name = request.url.endsWith('/') ? 'index.html' : path.basename(request.url)
      const place = path.join(site, name)
      if (!fs.existsSync(place)) return response.writeHead(404).end()
      response.writeHead(200, { 'content-type': types[name.split('.').pop()] }).end(fs.readFileSync(place))
    })
    server.listen(0, '127.0.0.1')
    context.after(() => {
      server.close()
      server.closeAllConnections()
    })
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    // A site may lie in a folder.
    const { page, wrong, close } = await open(`http://127.0.0.1:${port}/tokens/`)
    await page.getByRole('textbox', { name: 'Text' }).fill('Hello, world!')
    await has(page, 0, /^4 tokens$/)
    await has(page, 1, /^4 tokens$/)
    await page.getByRole('button', { name: 'Ids', exact: true }).click()
    await page.locator('.tokens').first().filter({ hasText: 'Hello,·world!' }).waitFor()
    assert.deepEqual(wrong, [])
    await close()
  })
}
