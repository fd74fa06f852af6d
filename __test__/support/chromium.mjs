// The Chromium or Chrome of this machine, for tests of the page. npm does not install one.

import fs from 'node:fs'
import http from 'node:http'

const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

/** The path of a browser, or undefined. */
export const executablePath = PLACES.find((place) => place && fs.existsSync(place))

export const whyNot =
  executablePath === undefined &&
  'there is no Chromium: apt-get install chromium, or say where one is with CHROMIUM_PATH'

/** Starts the browser. Chromium's sandbox does not work for root. */
export async function launch() {
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
}

/**
 * A new page of a browser, and the address of a server for it; both end with a test.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('node:http').RequestListener} answer
 */
export async function servedPage(t, answer) {
  const server = http.createServer(answer)
  await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)))
  const browser = await launch()
  t.after(async () => {
    await browser.close()
    server.close()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return { page: await browser.newPage(), address: `http://127.0.0.1:${port}` }
}

/**
 * Opens the page of the command line and waits for its first answer. `wrong` collects errors and
 * warnings, and what `watch` adds.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {string} address
 * @param {import('playwright-core').BrowserContextOptions} [options]
 * @param {(page: import('playwright-core').Page, wrong: string[]) => void} [watch] called before
 *   the page is loaded
 */
export async function openPage(browser, address, options = {}, watch = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1180, height: 900 }, ...options })
  const page = await context.newPage()
  // Every wait is for a state; this only ends one that never comes, also on a busy machine.
  page.setDefaultTimeout(180_000)
  /** @type {string[]} */
  const wrong = []
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrong.push(message.text()))
  watch(page, wrong)
  await page.goto(address)
  await page.locator('#languages tbody tr').first().waitFor()
  return { page, wrong, close: () => context.close() }
}
