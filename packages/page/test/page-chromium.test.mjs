// The page in a real browser: display, keyboard, pointer, and accessibility.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../../index.mjs'
import { SENTENCES } from '../src/languages.mjs'
import { launch, openPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { folderWithTokenizer, servePage } from '../../../__test__/support/cli.mjs'
import { contrast } from '../../../__test__/support/contrast.mjs'
import { text as someText } from '../../../__test__/support/texts.mjs'

if (whyNot) test('the page in Chromium', { skip: whyNot }, () => {})
else await tests()

async function tests() {
  const folder = folderWithTokenizer()
  // A name that is wider than the screen of a phone.
  const long = path.join(folder, 'a-folder-with-a-long-name', 'and-another-one', 'tokenizer.json')
  fs.mkdirSync(path.dirname(long), { recursive: true })
  fs.renameSync(path.join(folder, 'tiny.json'), long)
  const { child, ended, url } = await servePage(folder, ['o200k_base', 'cl100k_base', long])
  const browser = await launch()
  test.after(async () => {
    await browser.close()
    child.kill()
  })

  /** Opens the page; `wrong` collects errors, policy violations, and requests to other servers. */
  const open = (options = {}) =>
    openPage(browser, url, options, (page, wrong) => {
      page.on('request', (request) => request.url().startsWith(url) || wrong.push(request.url()))
      page.on('dialog', (dialog) => wrong.push(dialog.message()) && dialog.dismiss())
    })

  const type = (page, value) => page.getByRole('textbox', { name: 'Text' }).fill(value)
  /** Pastes a text from the clipboard. */
  async function paste(page, value) {
    await page.evaluate((value) => navigator.clipboard.writeText(value), value)
    await page.getByRole('textbox', { name: 'Text' }).focus()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.press('ControlOrMeta+v')
  }
  const total = (page, pane) => page.locator('.counts strong').nth(pane)
  const box = (page, name) => page.getByRole('listbox', { name: `Tokens of ${name}` })
  const has = (page, pane, count) =>
    total(page, pane)
      .filter({ hasText: new RegExp(`^${count} tokens?$`) })
      .waitFor()
  const detail = (page, pane) => page.locator('.detail').nth(pane).innerText()
  /** Waits until the answers to all questions are shown. */
  const settled = (page) => page.waitForFunction(() => document.querySelector('[aria-busy]') === null)

  test('tokens appear while typing, for two tokenizers', async () => {
    const { page, wrong, close } = await open()
    await type(page, 'Straßenbahnhaltestelle')
    const counts = ['o200k_base', 'cl100k_base'].map((name) =>
      Tokenizer.fromEncodingSync(name).count('Straßenbahnhaltestelle'),
    )
    await has(page, 0, counts[0])
    await has(page, 1, counts[1])
    await page.getByRole('textbox', { name: 'Text' }).pressSequentially('!')
    await has(page, 0, counts[0] + 1)
    assert.equal(await box(page, 'o200k_base').getByRole('option').count(), counts[0] + 1)
    await page.getByRole('combobox', { name: 'Tokenizer' }).nth(1).selectOption('r50k_base')
    await box(page, 'r50k_base').waitFor()
    await has(page, 1, Tokenizer.fromEncodingSync('r50k_base').count('Straßenbahnhaltestelle!'))
    await page.locator('#languages thead').filter({ hasText: 'r50k_base' }).waitFor()
    await type(page, '')
    await has(page, 0, 0)
    assert.deepEqual(wrong, [])
    await close()
  })

  test('a text is never interpreted as markup', async () => {
    const { page, wrong, close } = await open()
    const nasty = '<img src=x onerror="alert(1)"><script>alert(2)</script>&lt;b&gt;\u202e"\'`</span>'
    await type(page, nasty)
    await has(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(nasty))
    assert.equal(await box(page, 'o200k_base').innerText(), nasty.replaceAll(' ', '·').replace('\u202e', 'U+202E'))
    assert.equal(await page.locator('.tokens img, .tokens script, .detail img').count(), 0)
    for (const option of await box(page, 'cl100k_base').getByRole('option').all()) await option.hover()
    assert.deepEqual(wrong, [])
    await close()
  })

  test('the pointer and the keyboard show id, offsets and bytes', async () => {
    const { page, wrong, close } = await open()
    await type(page, 'a 🚀<|endoftext|>')
    await has(page, 0, 4)
    const options = box(page, 'o200k_base').getByRole('option')
    await options.nth(0).hover()
    assert.match(await detail(page, 0), /token\s+1\s+id\s+64\s+offsets\s+0 to 1\s+bytes\s+61\s+text\s+a/)
    assert.ok(
      await page.locator('#pane1-0').evaluate((option) => option.classList.contains('same')),
      'the same place in the other pane',
    )

    await page.getByRole('button', { name: 'Copy ids of o200k_base' }).focus()
    await page.keyboard.press('Tab')
    const active = () =>
      page.evaluate(() =>
        document
          .getElementById(document.activeElement.getAttribute('aria-activedescendant'))
          ?.getAttribute('aria-label'),
      )
    await page.keyboard.press('Home')
    assert.equal(await active(), 'a, id 64, characters 0 to 1')
    await page.keyboard.press('ArrowRight')
    assert.match(await active(), /^bytes 20 f0 9f 9a, part of space 🚀, id \d+, characters 1 to 4$/)
    assert.match(await detail(page, 0), /part of a character/)
    await page.keyboard.press('End')
    assert.match(await active(), /<\|endoftext\|>, id 199999, characters 4 to 17, special token$/)
    assert.match(await detail(page, 0), /special token that is part of the text/)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Escape')
    assert.equal(await active(), undefined)
    assert.equal(await options.nth(1).innerText(), '20 f0 9f 9a')
    assert.deepEqual(wrong, [])
    await close()
  })

  test('tokens of lines are shown as bars that lead to the line', async () => {
    const { page, wrong, close } = await open()
    await type(page, 'one two three\n\nfour')
    await has(page, 0, 5)
    const bars = page.getByRole('listbox', { name: 'Tokens of each line' })
    assert.equal(await bars.getByRole('option').count(), 3)
    await bars.focus()
    await page.keyboard.press('End')
    assert.equal(await page.locator('#lines-note').innerText(), 'Line 3: 1 token in o200k_base, 1 token in cl100k_base')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate(() => document.activeElement.id && getSelection().toString()), 'four')
    const heights = await bars
      .locator('.bar')
      .evaluateAll((all) => all.map((bar) => Math.round(bar.getBoundingClientRect().height)))
    assert.ok(heights[0] > 3 * heights[4] && heights[4] > 3 * heights[2], String(heights))
    assert.deepEqual(wrong, [])
    await close()
  })

  test('the table of languages, and its sentences as texts', async () => {
    const { page, wrong, close } = await open()
    const rows = page.locator('#languages tbody tr')
    assert.equal(await rows.count(), SENTENCES.length)
    const [language, , sentence] = SENTENCES.at(-1)
    const counts = ['o200k_base', 'cl100k_base'].map((name) => Tokenizer.fromEncodingSync(name).count(sentence))
    const cells = await rows.last().locator('td').allInnerTexts()
    assert.deepEqual([cells[0], cells[4]], counts.map(String))
    await page.getByRole('button', { name: `${language}: show the tokens of the sentence` }).click()
    await has(page, 0, counts[0])
    assert.equal(await page.getByRole('textbox', { name: 'Text' }).inputValue(), sentence)
    assert.deepEqual(wrong, [])
    await close()
  })

  test('of a megabyte all tokens are counted and a part is drawn, and the page says so', async () => {
    const { page, wrong, close } = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    const long = someText(1 << 20)
    await paste(page, long)
    await has(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(long).toLocaleString('en'))
    assert.match(
      await page.locator('#about-text').innerText(),
      /too long to edit here.* Counts are for the whole text; tokens are drawn for a part of it/,
    )
    assert.ok((await page.getByRole('textbox', { name: 'Text' }).inputValue()).length < 6000)
    assert.ok((await page.locator('.token').count()) < 20_000)
    const pager = page.getByRole('navigation', { name: 'Part of the text that is shown' })
    assert.match(await pager.innerText(), /characters 1 to 3,000 of 1,048,576/)
    assert.ok(await pager.getByRole('button', { name: 'Back' }).isDisabled())
    await pager.getByRole('button', { name: 'Next' }).click()
    await pager.getByText('characters 3,001 to 6,000').waitFor()
    assert.match(await page.locator('#lines-note').innerText(), /lines; each bar shows \d+ of them/)
    assert.ok((await page.locator('.bars [role=option]').count()) <= 120)
    await page.locator('.bars [role=option]').last().click()
    await pager.getByText(/characters 1,0\d\d,\d{3} to/).waitFor()
    await paste(page, 'x'.repeat((4 << 20) + 1))
    await page.getByText('are more than this page accepts').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await has(page, 0, 0)
    await type(page, 'short again')
    await has(page, 0, 2)
    assert.ok(await pager.isHidden())
    const middle = someText(20_000)
    await paste(page, middle)
    await has(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(middle).toLocaleString('en'))
    assert.equal(await page.getByRole('textbox', { name: 'Text' }).inputValue(), middle)
    assert.deepEqual(wrong, [])
    await close()
  })

  test('a file can be dropped', async () => {
    const { page, wrong, close } = await open()
    const dropped = await page.evaluateHandle(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['of a file'], 'notes.txt'))
      return transfer
    })
    await page.getByRole('textbox', { name: 'Text' }).dispatchEvent('drop', { dataTransfer: dropped })
    await has(page, 0, 3)
    assert.equal(await page.getByRole('textbox', { name: 'Text' }).inputValue(), 'of a file')
    assert.deepEqual(wrong, [])
    await close()
  })

  test('light and dark, by the system or by choice', async () => {
    const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const { page: light, close: closeLight } = await open({ colorScheme: 'light' })
    const { page, wrong, close } = await open({ colorScheme: 'dark' })
    const [bright, dark] = [await ground(light), await ground(page)]
    assert.notEqual(bright, dark)
    const button = page.getByRole('button', { name: /^Colours: / })
    await button.click()
    assert.equal(await ground(page), bright)
    await page.reload()
    assert.equal(await ground(page), bright, 'the choice is kept')
    await button.click()
    assert.equal(await ground(page), dark)
    assert.deepEqual(wrong, [])
    await close()
    await closeLight()
  })

  test('every colour of a token is legible', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const { page, close } = await open({ colorScheme })
      const every = 'a b c d 🚀 \u200d<|endoftext|>'
      await type(page, every)
      await has(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(every, { specialTokens: 'parse' }))
      const pairs = await page.locator('.token, .token i, .note, .counts, .detail dd').evaluateAll((all) =>
        all.map((element) => {
          let ground = element
          while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement
          return [
            getComputedStyle(element).color,
            getComputedStyle(ground).backgroundColor,
            element.className || element.textContent,
          ]
        }),
      )
      assert.ok(pairs.length > 10)
      for (const [ink, ground, what] of pairs)
        assert.ok(contrast(ink, ground) >= 4.5, `${what}: ${ink} on ${ground} is ${contrast(ink, ground)}`)
      await close()
    }
  })

  test('nothing overflows at the width of a phone', async () => {
    const { page, wrong, close } = await open({ viewport: { width: 360, height: 740 }, hasTouch: true })
    await type(page, `${'wide'.repeat(200)}\n${'x '.repeat(300)}`)
    await has(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(`${'wide'.repeat(200)}\n${'x '.repeat(300)}`))
    const width = () => page.evaluate(() => document.documentElement.scrollWidth)
    await settled(page)
    assert.ok((await width()) <= 360)
    await page.getByRole('combobox', { name: 'Tokenizer' }).first().selectOption(long)
    await box(page, long).waitFor()
    // The table of languages shows the name too.
    await page.locator('#languages thead [title$="another-one/tokenizer.json"]').waitFor()
    await settled(page)
    assert.ok((await width()) <= 360, 'with a long name')
    await page.getByRole('combobox', { name: 'Tokenizer' }).first().selectOption('o200k_base')
    // Redrawn tokens are no longer active, so the tap waits for them.
    await box(page, 'o200k_base').waitFor()
    await settled(page)
    const [first, second] = await page
      .locator('.pane')
      .evaluateAll((panes) => panes.map((pane) => pane.getBoundingClientRect().top))
    assert.ok(second > first, 'one below the other')
    await page.locator('.token').first().tap()
    assert.match(await detail(page, 0), /id\s+\d+/)
    assert.deepEqual(wrong, [])
    await close()
  })

  // This is the last test: it stops the server.
  test('the page reports that the server was stopped', async () => {
    const { page, close } = await open()
    child.kill()
    await ended
    await type(page, 'anyone?')
    const message = page.getByRole('status', { name: 'Tokens of o200k_base' })
    await message.getByText('The server does not respond').waitFor()
    await close()
  })
}
