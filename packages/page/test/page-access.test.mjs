// The page for users of assistive technology: axe finds nothing in any mode and colour, voice
// control finds controls by their visible text, forced colours keep what colours say.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'

import { launch, openPage, whyNot } from '../../../__test__/support/chromium.mjs'
import { folderWithTokenizer, servePage } from '../../../__test__/support/cli.mjs'

/** What axe leaves out by default, and this page keeps. */
const MORE_RULES = ['label-content-name-mismatch', 'target-size', 'focus-order-semantics']

/** @type {Record<string, import('playwright-core').BrowserContextOptions>} */
const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
  'a phone': { viewport: { width: 360, height: 740 }, hasTouch: true },
}

if (whyNot) test('access in Chromium', { skip: whyNot }, () => {})
else await inChromium()

async function inChromium() {
  const { source: axe } = createRequire(import.meta.url)('axe-core')
  const { child, url } = await servePage(folderWithTokenizer(), ['tiny.json'])
  const browser = await launch()
  test.after(async () => {
    await browser.close()
    child.kill()
  })
  const settled = (page) => page.waitForFunction(() => document.querySelector('[aria-busy]') === null)

  /** Each state of the page that has other elements. */
  const STATES = {
    async text(page) {
      await page.getByRole('textbox', { name: 'Text' }).fill('a b 🚀<|endoftext|>\n\nthree <s>')
      await page.locator('.special').first().waitFor()
      await page.locator('.token').nth(1).hover()
    },
    async 'shown ids and an open form'(page) {
      await page.getByRole('button', { name: 'Show ids' }).click()
      await page.getByText('Open a tokenizer').click()
    },
    async 'a long text'(page) {
      await page.getByRole('textbox', { name: 'Text' }).fill('one two\n'.repeat(1000))
      await page.locator('.pager').waitFor()
    },
    async chat(page) {
      await page.getByRole('button', { name: 'Chat', exact: true }).click()
      await page.getByText("Counted by OpenAI's rules").waitFor()
    },
    async 'ids that are none'(page) {
      await page.getByRole('button', { name: 'Ids', exact: true }).click()
      await page.getByRole('textbox', { name: 'Ids' }).fill('hello')
      await page.getByText('There are no ids here').first().waitFor()
    },
  }

  for (const [look, options] of Object.entries(LOOKS)) {
    test(`axe finds nothing, and names have what is seen: ${look}`, async () => {
      const { page, wrong, close } = await openPage(browser, url, options)
      await page.evaluate(axe)
      for (const [state, enter] of Object.entries(STATES)) {
        await enter(page)
        await settled(page)
        const found = await page.evaluate(async (rules) => {
          const enabled = Object.fromEntries(rules.map((rule) => [rule, { enabled: true }]))
          const { violations } = await /** @type {any} */ (window).axe.run({ rules: enabled })
          return violations.flatMap(({ id, nodes }) =>
            nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
          )
        }, MORE_RULES)
        assert.deepEqual(found, [], `${look}, ${state}`)
        assert.deepEqual(await page.evaluate(mismatches), [], `${look}, ${state}`)
      }
      assert.deepEqual(wrong, [])
      await close()
    })
  }

  test('forced colours show what is pressed, special, added, active, and whose bar it is', async () => {
    const { page, close } = await openPage(browser, url, { forcedColors: 'active' })
    await page.getByRole('textbox', { name: 'Text' }).fill('hello 🚀<s>\nhello')
    await page.locator('.pane').first().locator('.special').waitFor()
    await settled(page)
    const lookOf = (selector, part = null) =>
      page
        .locator(selector)
        .first()
        .evaluate((one, pseudo) => {
          const style = getComputedStyle(one, pseudo)
          const names = ['color', 'backgroundColor', 'borderTopStyle', 'borderTopColor', 'outlineStyle', 'outlineWidth']
          return names.map((name) => style[name]).join(' ')
        }, part)
    const differ = (looks) => assert.equal(new Set(looks).size, looks.length, looks.join('\n'))
    differ([await lookOf('[data-mode=text]'), await lookOf('[data-mode=chat]')])
    const kinds = ['.token:not(.special, .added, .half)', '.special', '.added', '.half']
    differ(await Promise.all(kinds.map((kind) => lookOf(kind))))
    differ([await lookOf('.bar.b0'), await lookOf('.bar.b1')])
    differ([await lookOf('.legend .b0', '::before'), await lookOf('.legend .b1', '::before')])
    // Each kind, with the pointer elsewhere and on it.
    for (const kind of kinds) {
      await page.getByRole('textbox', { name: 'Text' }).hover()
      const token = page.locator(kind).first()
      const before = await lookOf(kind)
      await token.hover()
      assert.notEqual(await lookOf(kind), before, kind)
    }
    await close()
  })
}

/** The controls whose name lacks their visible label: voice control clicks what a user reads. */
function mismatches() {
  const words = (text) => text.toLowerCase().replace(/\s+/g, ' ').trim()
  const visible = (element) => {
    const copy = element.cloneNode(true)
    for (const hidden of copy.querySelectorAll('[aria-hidden=true], .visually-hidden, input, select, textarea, button'))
      hidden.remove()
    return words(copy.textContent)
  }
  const controls = [...document.querySelectorAll('button, select, input, textarea, summary, a')]
  return controls.flatMap((control) => {
    const given = control.getAttribute('aria-label')
    const labels = /** @type {any} */ (control).labels ?? []
    const own = control.matches('button, summary, a') ? [visible(control)] : []
    const wanted = [...own, ...Array.from(labels, visible)].filter((text) => /[\p{L}\p{N}]/u.test(text))
    return given === null
      ? []
      : wanted.filter((text) => !words(given).includes(text)).map((text) => `${text}: ${given}`)
  })
}
