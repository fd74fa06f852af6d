#!/usr/bin/env node
// Writes the screenshots docs/page-light.png, -dark.png and -phone.png of `tokenlane inspect
// --web`. Needs Chromium, and fonts for the languages of the sample (Debian: fonts-noto-core
// fonts-noto-cjk fonts-noto-color-emoji).

import os from 'node:os'
import { fileURLToPath } from 'node:url'

import { launch, whyNot } from '../../__test__/support/chromium.mjs'
import { servePage } from '../../__test__/support/cli.mjs'

if (whyNot) {
  console.error(whyNot)
  process.exit(1)
}

const SHOTS = {
  light: { colorScheme: 'light', viewport: { width: 1080, height: 860 } },
  dark: { colorScheme: 'dark', viewport: { width: 1080, height: 860 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true },
}

const { child, url } = await servePage(os.tmpdir())
const browser = await launch()
for (const [name, options] of Object.entries(SHOTS)) {
  const page = await browser.newPage(/** @type {any} */ (options))
  await page.goto(url)
  await page.locator('#languages tbody tr').first().waitFor()
  await page.locator('.token', { hasText: '·rare' }).first().hover()
  await page.waitForTimeout(500)
  await page.screenshot({ path: fileURLToPath(new URL(`../../docs/page-${name}.png`, import.meta.url)) })
  await page.close()
}
await browser.close()
child.kill()
