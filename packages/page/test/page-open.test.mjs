// Tokenizers that a user opens on the page: a file that is chosen or dropped, a repository of the
// hub.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../../index.mjs'
import { answersOf } from '../src/answers.mjs'
import { launch, openPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { folderWithTokenizer, servePage } from '../../../__test__/support/cli.mjs'
import { noServer, startHub } from '../../../__test__/support/hub.mjs'
import { bytesOf, tiny } from '../../../__test__/support/tiny.mjs'

const bytes = bytesOf(tiny())
const tokenizer = Tokenizer.fromBufferSync(bytes)
const answersWith = (more) =>
  answersOf({ names: ['r50k_base'], load: async () => Tokenizer.fromEncodingSync('r50k_base'), ...more })
const openFile = (given) => Tokenizer.fromBuffer(given)

if (whyNot || noServer) test('opening in Chromium', { skip: whyNot || noServer }, () => {})
else await inChromium()

test('a file has its name, the second of the name a number, and links leave both out', async () => {
  const answers = answersWith({ openFile })
  assert.deepEqual(await answers['POST open']({ name: 'a.json', bytes }), { name: 'a.json' })
  assert.deepEqual(await answers['POST open']({ name: 'a.json', bytes }), { name: 'a.json (2)' })
  const { names, local, opens } = answers['GET tokenizers']()
  assert.deepEqual(
    [names, local],
    [
      ['r50k_base', 'a.json', 'a.json (2)'],
      ['a.json', 'a.json (2)'],
    ],
  )
  assert.deepEqual(opens, { file: true, repository: false })
  const { count } = await answers['POST tokens']({ tokenizer: 'a.json', text: 'hello world' })
  assert.equal(count, tokenizer.count('hello world'))
})

test('a repository is loaded once, and by its name alone', async () => {
  const asked = []
  const openRepository = async (name) => {
    asked.push(name)
    return tokenizer
  }
  const answers = answersWith({ openRepository })
  for (let call = 0; call < 2; call++)
    assert.deepEqual(await answers['POST open']({ repository: 'org/name' }), { name: 'org/name' })
  assert.deepEqual(asked, ['org/name'])
  assert.deepEqual(answers['GET tokenizers']().local, [])
})

test('what cannot be opened is refused, and leaves nothing behind', async () => {
  const refused = (answers, body, status, message = /./) =>
    assert.rejects(async () => answers['POST open'](body), { status, message })
  const answers = answersWith({ openFile })
  await refused(answers, { name: 'notes.txt', bytes: Buffer.from('no tokenizer') }, 422)
  await refused(answers, { repository: 'org/name' }, 404)
  for (const wrong of [{}, { repository: 1 }, { name: 'a' }, { name: '', bytes }, { name: 'a', bytes: [1] }])
    await refused(answers, wrong, 400)
  await refused(answers, { name: 'x'.repeat(201), bytes }, 400)
  assert.deepEqual(answers['GET tokenizers']().names, ['r50k_base'])
  await refused(answersWith({}), { name: 'a', bytes }, 404)
  for (let count = 0; count < 20; count++) await answers['POST open']({ name: 'a', bytes })
  await refused(answers, { name: 'a', bytes }, 400, /20 tokenizers are open/)
})

async function inChromium() {
  const hub = await startHub({ 'org/name': { files: { 'tokenizer.json': Buffer.from(bytes) } } })
  const folder = folderWithTokenizer()
  fs.mkdirSync(path.join(folder, 'secret'))
  fs.renameSync(path.join(folder, 'tiny.json'), path.join(folder, 'secret', 'mine.json'))
  const env = { HF_ENDPOINT: hub.url, HF_HOME: path.join(folder, 'cache') }
  const { child, url } = await servePage(folder, [], env)
  const browser = await launch()
  test.after(async () => {
    await browser.close()
    child.kill()
    hub.close()
  })
  const permissions = ['clipboard-read', 'clipboard-write']
  const text = 'hello world'
  const wanted = tokenizer.count(text)
  const has = (page, pane, count) =>
    page
      .locator('.counts strong')
      .nth(pane)
      .filter({ hasText: new RegExp(`^${count} tokens?$`) })
      .waitFor()
  const selected = (page) => page.locator('.pane select').evaluateAll((all) => all.map(({ value }) => value))

  test('a file is dropped on a pane or chosen, and counts there', async () => {
    const { page, wrong, close } = await openPage(browser, url, { permissions })
    await page.getByRole('textbox', { name: 'Text' }).fill(text)
    const dropped = await page.evaluateHandle(
      ([json]) => {
        const transfer = new DataTransfer()
        transfer.items.add(new File([json], 'dropped.json'))
        return transfer
      },
      [Buffer.from(bytes).toString()],
    )
    await page.locator('.tokens').first().dispatchEvent('drop', { dataTransfer: dropped })
    await has(page, 0, wanted)
    assert.deepEqual(await selected(page), ['dropped.json', 'cl100k_base'])
    assert.equal(await page.getByRole('textbox', { name: 'Text' }).inputValue(), text)
    await page.getByText('Open a tokenizer').click()
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file' }).click()
    await (await choosing).setFiles(path.join(folder, 'secret', 'mine.json'))
    await page.getByText('mine.json is open in list 2 of 2').waitFor()
    await has(page, 1, wanted)
    assert.deepEqual(await selected(page), ['dropped.json', 'mine.json'])
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Link copied without the names of files').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    assert.ok(!/dropped|mine|secret/.test(link), link)
    const notes = path.join(folder, 'notes.txt')
    fs.writeFileSync(notes, 'no tokenizer')
    const again = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file' }).click()
    await (await again).setFiles(notes)
    await page.getByText('notes.txt was not opened: ').waitFor()
    assert.deepEqual(await selected(page), ['dropped.json', 'mine.json'])
    // The browser reports the refusal.
    assert.deepEqual(
      wrong.filter((line) => !line.includes('422')),
      [],
    )
    await close()
  })

  test('a repository is named, and a link has its name', async () => {
    const { page, wrong, close } = await openPage(browser, url, { permissions })
    await page.getByRole('textbox', { name: 'Text' }).fill(text)
    await page.getByText('Open a tokenizer').click()
    const field = page.getByRole('textbox', { name: 'Repository of the Hugging Face Hub' })
    await field.fill('org/name')
    await field.press('Enter')
    await page.getByText('org/name is open in list 2 of 2').waitFor()
    await has(page, 1, wanted)
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Link copied').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    assert.equal(new URLSearchParams(new URL(link).hash.slice(1)).getAll('t')[1], 'org/name')
    for (const name of ['org/nowhere', 'secret/mine.json', '/etc/passwd', './secret']) {
      await field.fill(name)
      await page.getByRole('button', { name: 'Open', exact: true }).click()
      await page.getByText(`${name} was not opened: `).waitFor()
    }
    assert.deepEqual(
      wrong.filter((line) => !line.includes('422')),
      [],
    )
    await close()
  })
}
