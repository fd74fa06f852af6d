'use strict'

// Counts the tokens of an image by the rules in OpenAI's guide "Images and vision" (as of 2026).
// There are two rules:
//
//   tiles    the image is scaled to fit 2048 x 2048, then to 768 on its shorter side. Each square
//            of 512 takes some tokens, and each image a base; with low detail the base alone
//   patches  the image is scaled to the model's number of patches of 32 x 32, and to a maximum
//            side. Each patch is a token, times a factor of the model
//
// Smaller images are not enlarged. OpenAI does not say what the detail `auto` selects, except for
// gpt-5.4 and gpt-5.5: elsewhere it counts as `high`, which takes the most tokens.

const { error, wrongType, wrongValue } = require('../errors.js')
const { entryOf } = require('../models.js')
const { sizeOfDataUrl } = require('./image-size.js')

const PATCH = 32
const TILE = 512
const TILE_BOX = 2048
const TILE_SIDE = 768

const DETAILS = ['auto', 'low', 'high', 'original']
const SMALL = { high: { patches: 1536, side: 2048 } }
const LARGE = { high: { patches: 2500, side: 2048 }, original: { patches: 10_000, side: 6000 } }

/** Models by the rule for their images. `factor` is missing where OpenAI publishes none. */
const FAMILIES = [
  { models: ['gpt-5', 'gpt-5-chat-latest'], tiles: { base: 70, each: 140 } },
  {
    models: ['gpt-4o', 'chatgpt-4o-latest', 'gpt-4.1', 'gpt-4.5-preview', 'gpt-4-turbo', 'gpt-4-vision-preview'],
    tiles: { base: 85, each: 170 },
  },
  { models: ['gpt-4o-mini'], tiles: { base: 2833, each: 5667 } },
  { models: ['o1', 'o1-pro', 'o3'], tiles: { base: 75, each: 150 } },
  { models: ['computer-use-preview'], tiles: { base: 65, each: 129 } },
  { models: ['gpt-4.1-mini'], budgets: SMALL, factor: 1.62 },
  { models: ['gpt-4.1-nano'], budgets: SMALL, factor: 2.46 },
  { models: ['o4-mini'], budgets: SMALL, factor: 1.72 },
  // The guide has 1.62 and 2.46 for these. The API bills less, as OpenAI's page of prices says.
  { models: ['gpt-5-mini', 'gpt-5.4-mini', 'gpt-5.4-nano'], budgets: SMALL, factor: 1.2 },
  { models: ['gpt-5-nano'], budgets: SMALL, factor: 1.5 },
  {
    models: [
      'gpt-5.2',
      'gpt-5.2-chat-latest',
      'gpt-5.2-codex',
      'gpt-5.3-codex',
      'gpt-5-codex-mini',
      'gpt-5.1-codex-mini',
    ],
    budgets: SMALL,
  },
  { models: ['gpt-5.4'], budgets: LARGE, auto: 'high' },
  { models: ['gpt-5.5'], budgets: LARGE, auto: 'original' },
]
const families = new Map(FAMILIES.flatMap((family) => family.models.map((model) => [model, family])))

/**
 * The image in a part of a message, as `{ url, detail }`; undefined if it is another part.
 * `detailAt` is the place of the detail in the part.
 */
function imageOf(part) {
  if (part?.type !== 'image_url' && part?.type !== 'input_image') return undefined
  const { image_url: image, detail } = part
  return typeof image === 'object' && image !== null
    ? {
        url: image.url,
        detail: image.detail ?? detail ?? 'auto',
        detailAt: image.detail === undefined ? '.detail' : '.image_url.detail',
      }
    : { url: image ?? part.file_id, detail: detail ?? 'auto', detailAt: '.detail' }
}

/**
 * `note` takes the location of an estimate and the error that it is without estimates: it throws
 * that, or accepts the estimate.
 */
function countImage({ url, detail, detailAt = '.detail' }, model, imageSize, location, note) {
  if (typeof url !== 'string') throw wrongType(`${location}.image_url`, 'a URL (a string)', url)
  if (!DETAILS.includes(detail)) throw wrongValue(`${location}${detailAt}`, `one of ${DETAILS.join(', ')}`, detail)
  const family = familyOf(model, location, note)
  const { tiles, budgets, factor = 1 } = family
  if (detail === 'original' && budgets?.original === undefined)
    throw wrongValue(`${location}${detailAt}`, `auto, low or high with ${model}`, detail)
  if (tiles !== undefined) {
    return detail === 'low' ? tiles.base : tiles.base + tiles.each * tilesOf(sizeOf(url, imageSize, location, note))
  }
  if (family.factor === undefined)
    note(`${location} (an image with ${model}, whose tokens per patch are not published)`)
  if (detail === 'low') note(`${location} (an image of low detail with ${model})`)
  const budget = budgets[detail === 'auto' ? (family.auto ?? 'high') : detail] ?? budgets.high
  // The product is rounded up; a small difference keeps 25 * 1.62 at 40.5 and not above.
  return Math.ceil(patchesOf(sizeOf(url, imageSize, location, note), budget) * factor - 1e-9)
}

/** The rule for a model; for others that of the model whose name is most like it, or gpt-4o's. */
function familyOf(model, location, note) {
  if (model === undefined) {
    const expected = `the name of the model, because ${location} is an image and models differ in its tokens`
    note(`${location} (an image for an unknown model)`, wrongType('model', expected, model))
    return families.get('gpt-4o')
  }
  const family = entryOf(families, model)
  if (family !== undefined) return family
  const message = `OpenAI does not document how many tokens an image takes with ${model}: ${location}; countRequest of @tokenlane/requests estimates it`
  note(`${location} (an image for ${model})`, error('ERR_TOKENLANE_CHAT_UNDOCUMENTED', message))
  const near = [...families.keys()].filter((name) => model.startsWith(name)).sort((a, b) => b.length - a.length)[0]
  return families.get(near ?? 'gpt-4o')
}

/** The size of an image; one that is not known is estimated as that of a usual picture. */
function sizeOf(url, imageSize, location, note) {
  const size = imageSize?.(url) ?? sizeOfDataUrl(url)
  if (size === undefined) {
    const message =
      `the size of the image at ${location} is not known, because it is no data: URL of a PNG, JPEG, GIF or WebP: give the ` +
      'option imageSize, a function that returns { width, height } for a URL'
    note(`${location} (an image of unknown size)`, error('ERR_TOKENLANE_CHAT_IMAGE_SIZE', message))
    return UNKNOWN_SIZE
  }
  if (typeof size?.then === 'function')
    throw wrongType('imageSize', 'a function that returns { width, height }, not a promise', imageSize)
  for (const side of ['width', 'height']) {
    const length = size?.[side]
    if (!Number.isSafeInteger(length) || length < 1 || length > MAX_SIDE)
      throw wrongValue(`the ${side} of the image at ${location}`, `a whole number from 1 to ${MAX_SIDE}`, length)
  }
  return size
}

const UNKNOWN_SIZE = { width: 1024, height: 1024 }
/** The longest side that PNG and JPEG files can name, rounded up. */
const MAX_SIDE = 2 ** 31

function tilesOf({ width, height }) {
  const box = Math.min(1, TILE_BOX / Math.max(width, height))
  const side = Math.min(1, TILE_SIDE / Math.min(width * box, height * box))
  const across = (length) => Math.max(1, Math.ceil(Math.floor(length * box * side + 1e-6) / TILE))
  return across(width) * across(height)
}

const count = (width, height) => Math.ceil(width / PATCH) * Math.ceil(height / PATCH)

function patchesOf({ width, height }, { patches, side }) {
  let scale = Math.min(1, side / Math.max(width, height))
  if (count(width, height) > patches) scale = Math.min(scale, shrunk(width, height, patches))
  const pixels = (length) => Math.max(1, Math.floor(length * scale + 1e-6))
  return Math.min(patches, count(pixels(width), pixels(height)))
}

/** The factor that fits an image into a number of patches, by OpenAI's formula. */
function shrunk(width, height, patches) {
  const factor = Math.sqrt((PATCH * PATCH * patches) / (width * height))
  const whole = [width, height].map((length) => (length * factor) / PATCH).filter((across) => across >= 1)
  return factor * Math.min(...whole.map((across) => Math.floor(across) / across))
}

module.exports = { countImage, imageOf, sizeOf }
