// The Chromium or Chrome of this machine, for tests of the page. npm does not install one.

import fs from 'node:fs'

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
