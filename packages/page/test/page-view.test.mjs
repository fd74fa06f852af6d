// The page of `tokenlane inspect --web` in Chromium: names, ids, links, and small screens.

import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Tokenizer } from '../../../index.mjs'
import { MAX_LINK, fragmentOf, viewOf } from '../page/link.mjs'
import { labelsOf } from '../page/names.mjs'
import { launch, openPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { folderWithTokenizer, servePage } from '../../../__test__/support/cli.mjs'
import { contrast } from '../../../__test__/support/contrast.mjs'

// The browser starts first: hooks of the file run when its first tests have ended.
if (whyNot) test('the view in Chromium', { skip: whyNot }, () => {})
else await tests()

test('shortened names keep what differs', () => {
  const models = ['07-23', '09-25', '09-26'].map((day) => `models/llama-3.1-8b-instruct-2024-${day}/tokenizer.json`)
  const ends = ['/home/me/vocabularies/some-model-a.json', '/home/me/vocabularies/some-model-b.json']
  const starts = ['alpha/vocabularies/some/model/tokenizer.json', 'omega/vocabularies/some/model/tokenizer.json']
  for (const names of [models, ends, starts, [...models, ...ends, ...starts, 'o200k_base']]) {
    for (const max of [20, 30, 40]) {
      const labels = labelsOf(names, max)
      assert.equal(new Set(labels).size, names.length, `${max}: ${labels}`)
      for (const [i, label] of labels.entries()) {
        assert.ok(label.length <= max, `${label} is longer than ${max}`)
        if (names[i].length <= max) assert.equal(label, names[i])
        assert.equal(label.split('…')[0], names[i].slice(0, label.split('…')[0].length))
        assert.ok(names[i].endsWith(label.split('…').at(-1)))
      }
    }
  }
  // Any two different names that differ in one character have different labels.
  const base = 'x'.repeat(200)
  for (let place = 0; place < 200; place++) {
    const other = `${base.slice(0, place)}y${base.slice(place + 1)}`
    const [a, b] = labelsOf([base, other], 30)
    assert.notEqual(a, b, String(place))
  }
})

test('a link has the view, and is bounded', () => {
  const view = { text: 'a&b=c #d\n%é🚀+ ', tokenizers: ['o200k_base', 'a b/ü&t=x.json'], ids: true, at: 3000 }
  assert.deepEqual(viewOf(fragmentOf(view).fragment), view)
  assert.deepEqual(viewOf(''), { text: undefined, tokenizers: [], ids: false, at: 0 })
  for (const text of ['x'.repeat(MAX_LINK * 2), 'é'.repeat(MAX_LINK / 2)]) {
    const { fragment, hasText } = fragmentOf({ ...view, text })
    assert.equal(hasText, false)
    assert.ok(fragment.length < 200)
    assert.deepEqual(viewOf(fragment), { ...view, text: undefined, at: 0 })
  }
  assert.ok(fragmentOf({ text: 'x'.repeat(MAX_LINK - 20) }).hasText)
  assert.equal(viewOf(fragmentOf({ text: '\ud800' }).fragment).text, '\ufffd')
  assert.deepEqual(viewOf(`#text=${'x'.repeat(3 * MAX_LINK)}`), {})
  for (const at of ['-1', '1.5', 'x', '1e99', '']) assert.equal(viewOf(`#at=${at}`).at, 0)
  assert.equal(viewOf('#text=%E9%').text, '\ufffd%')
})

async function tests() {
  const folder = folderWithTokenizer()
  const names = ['2024-07-23', '2024-09-25'].map((day) => `models/llama-3.1-8b-instruct-${day}/tokenizer.json`)
  for (const name of names) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    fs.copyFileSync(path.join(folder, 'tiny.json'), path.join(folder, name))
  }
  const { child, url } = await servePage(folder, names)
  const browser = await launch()
  test.after(async () => {
    await browser.close()
    child.kill()
  })

  const open = ({ hash = '', ...options } = {}) =>
    openPage(browser, url + hash, { permissions: ['clipboard-read', 'clipboard-write'], ...options })
  const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText())
  const counted = (page, pane, count) =>
    page
      .locator('.counts strong')
      .nth(pane)
      .filter({ hasText: new RegExp(`^${count} tokens?$`) })
      .waitFor()
  const settled = (page) => page.waitForFunction(() => document.querySelector('[aria-busy]') === null)
  const link = ({ text, tokenizers, ids, at }) => fragmentOf({ text, tokenizers, ids, at }).fragment

  test('tokenizers whose names differ at one place look different', async () => {
    const { page, wrong, close } = await open()
    const shown = await page.locator('.pane select').evaluateAll((all) => all.map((one) => one.selectedOptions[0].text))
    assert.match(shown[0], /07-23/)
    assert.match(shown[1], /09-25/)
    assert.deepEqual(await page.locator('.pane .full').allInnerTexts(), names)
    const heads = page.locator('#languages [scope=colgroup]')
    assert.equal(new Set(await heads.allInnerTexts()).size, 2)
    assert.equal(await heads.first().getAttribute('title'), names[0])
    await page.getByRole('combobox', { name: 'Tokenizer' }).first().selectOption('o200k_base')
    await page.getByRole('listbox', { name: 'Tokens of o200k_base' }).waitFor()
    assert.ok(await page.locator('.pane .full').first().isHidden())
    assert.deepEqual(wrong, [])
    await close()
  })

  test('ids are shown for all tokens, and copied for the whole text', async () => {
    const { page, wrong, close } = await open({
      hash: link({ tokenizers: ['o200k_base', 'r50k_base'], text: 'a b\nc' }),
    })
    await counted(page, 0, 4)
    const button = page.getByRole('button', { name: 'Show ids' })
    const before = (place) =>
      page
        .locator('.token')
        .nth(place)
        .evaluate((token) => getComputedStyle(token, '::before').content)
    assert.equal(await before(0), 'none')
    await button.focus()
    await page.keyboard.press('Enter')
    assert.equal(await button.getAttribute('aria-pressed'), 'true')
    assert.equal(await before(0), '"64"')
    const long = 'one two three. '.repeat(1000)
    await page.getByRole('textbox', { name: 'Text' }).fill(long)
    const ids = [...Tokenizer.fromEncodingSync('o200k_base').encode(long).ids]
    await counted(page, 0, ids.length.toLocaleString('en'))
    await page.getByRole('button', { name: 'Copy ids of o200k_base' }).click()
    await page.getByText(`${ids.length.toLocaleString('en')} ids copied`).waitFor()
    assert.deepEqual(JSON.parse(await clipboard(page)), ids)
    await button.click()
    assert.equal(await before(0), 'none')
    assert.deepEqual(wrong, [])
    await close()
  })

  test('a link reproduces the view', async () => {
    const { page, wrong, close } = await open()
    const text = 'a&b #c\n🚀 '.repeat(5)
    await page.getByRole('textbox', { name: 'Text' }).fill(text)
    await page.getByRole('combobox', { name: 'Tokenizer' }).nth(1).selectOption('p50k_base')
    await page.getByRole('button', { name: 'Show ids' }).click()
    await counted(page, 1, Tokenizer.fromEncodingSync('p50k_base').count(text))
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('Link copied').waitFor()
    const copied = await clipboard(page)
    assert.ok(copied.startsWith(`${url}/#`) || copied.startsWith(`${url}#`), copied)
    // Paths of this machine are not for others; the selected file is that of the command line.
    assert.ok(!/models|llama|tokenizer/.test(decodeURIComponent(copied)), copied)
    await page.getByText('Link copied without the names of files').waitFor()
    const other = await open({ hash: new URL(copied).hash })
    await counted(other.page, 1, Tokenizer.fromEncodingSync('p50k_base').count(text))
    assert.equal(await other.page.getByRole('textbox', { name: 'Text' }).inputValue(), text)
    assert.equal(await other.page.getByRole('button', { name: 'Show ids' }).getAttribute('aria-pressed'), 'true')
    const selected = await other.page.locator('.pane select').evaluateAll((all) => all.map(({ value }) => value))
    assert.deepEqual(selected, [names[0], 'p50k_base'])
    // Another link in the same window, with an unknown tokenizer and a place in the text.
    await other.page.evaluate(
      (hash) => (location.hash = hash),
      link({ tokenizers: ['nowhere', 'gpt2'], text: 'x y '.repeat(1500), at: 3000 }),
    )
    await other.page.getByText('characters 3,001 to 6,000 of 6,000').waitFor()
    await settled(other.page)
    assert.equal(await other.page.locator('.pane select').first().inputValue(), names[0])
    // Of a text that is too long for a link, the link has the rest.
    await page.getByRole('textbox', { name: 'Text' }).fill('x'.repeat(10_000))
    await page.getByRole('button', { name: 'Copy link' }).click()
    await page.getByText('without the text').waitFor()
    assert.ok((await clipboard(page)).length < 500)
    assert.deepEqual([...wrong, ...other.wrong], [])
    await other.close()
    await close()
  })

  test('on a phone: the table shows that it scrolls, and empty panels are small', async () => {
    const { page, wrong, close } = await open({ viewport: { width: 360, height: 740 }, hasTouch: true })
    const hint = page.getByText('scroll it sideways')
    assert.ok(await hint.isVisible())
    const shadow = (side) =>
      page.locator('.wide').evaluate((box, pseudo) => getComputedStyle(box, pseudo).opacity, side)
    const becomes = (side, value) =>
      page.waitForFunction(
        ([pseudo, wanted]) => getComputedStyle(document.querySelector('.wide'), pseudo).opacity === wanted,
        [side, value],
      )
    assert.equal(await shadow('::before'), '0')
    await becomes('::after', '1')
    await page.locator('.scroll').evaluate((box) => box.scrollTo(10_000, 0))
    await becomes('::before', '1')
    await becomes('::after', '0')
    for (const height of await page.locator('.detail').evaluateAll((all) => all.map((one) => one.offsetHeight)))
      assert.ok(height < 60, `an empty panel of ${height} pixels`)
    await page.getByRole('textbox', { name: 'Text' }).fill('')
    // The two special tokens that the tokenizer adds.
    await counted(page, 0, 2)
    await settled(page)
    for (const height of await page.locator('.tokens').evaluateAll((all) => all.map((one) => one.offsetHeight)))
      assert.ok(height < 100, `an empty list of ${height} pixels`)
    await page.setViewportSize({ width: 1280, height: 800 })
    await hint.waitFor({ state: 'hidden' })
    assert.deepEqual(wrong, [])
    await close()
  })

  test('words, and the order of the keyboard', async () => {
    const { page, wrong, close } = await open()
    assert.ok(await page.getByText('How a model sees your text').isVisible())
    assert.match(await page.getByRole('button', { name: /^Colours: System/ }).innerText(), /System/)
    assert.match(await page.locator('#languages thead').innerText(), /relative to English/)
    await page.getByRole('textbox', { name: 'Text' }).focus()
    const order = []
    for (let i = 0; i < 9; i++) {
      await page.keyboard.press('Tab')
      order.push(
        await page.evaluate(() => {
          const { activeElement: at } = document
          return at.getAttribute('aria-label') ?? at.textContent
        }),
      )
    }
    assert.deepEqual(order, [
      'Show ids',
      'Copy link',
      'Price of a million tokens',
      'Open a tokenizer',
      'Tokenizer',
      `Copy ids of ${names[0]}`,
      `Tokens of ${names[0]}`,
      'Tokenizer',
      `Copy ids of ${names[1]}`,
    ])
    // Every control has a name, and states are announced.
    const unnamed = await page
      .locator('button, select, textarea, [tabindex]')
      .evaluateAll(
        (all) =>
          all.filter(
            (one) =>
              !one.getAttribute('aria-label') &&
              !one.getAttribute('aria-labelledby') &&
              !one.textContent.trim() &&
              !one.labels?.length,
          ).length,
      )
    assert.equal(unnamed, 0)
    assert.equal(await page.locator('.said').evaluateAll((all) => all.every((one) => one.role === 'status')), true)
    assert.deepEqual(wrong, [])
    await close()
  })

  test('shown ids are legible in light and dark', async () => {
    const text = 'a b c d 🚀<|endoftext|>'
    for (const colorScheme of ['light', 'dark']) {
      const { page, close } = await open({
        colorScheme,
        hash: link({ tokenizers: ['o200k_base'], ids: true, text }),
      })
      await counted(page, 0, Tokenizer.fromEncodingSync('o200k_base').count(text, { specialTokens: 'parse' }))
      const pairs = await page
        .locator('.pane')
        .first()
        .locator('.token')
        .evaluateAll((all) =>
          all.map((token) => {
            let ground = token
            while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement
            return [getComputedStyle(token, '::before').color, getComputedStyle(ground).backgroundColor]
          }),
        )
      assert.ok(pairs.length > 5)
      for (const [ink, ground] of pairs)
        assert.ok(contrast(ink, ground) >= 4.5, `${ink} on ${ground}: ${contrast(ink, ground)}`)
      await close()
    }
  })
}
