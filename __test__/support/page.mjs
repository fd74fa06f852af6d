// Reads the HTML pages of reports: what is on a page is its tree, and what stands in no known place
// is found as well.

import assert from 'node:assert/strict'

const VOID = new Set(['meta', 'br', 'hr', 'line', 'circle', 'polyline'])
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const decoded = (text) => text.replace(/&([#\w]+);/g, (entity, name) => ENTITIES[name] ?? assert.fail(entity))

/**
 * The elements and texts of a page, without its style.
 *
 * @typedef {{ tag: string, attributes: string, children: (Node | string)[] }} Node
 * @param {string} page
 * @returns {Node}
 */
export function treeOf(page) {
  const document = { tag: '', attributes: '', children: [] }
  const open = [document]
  const tokens = page.replace(/<!doctype html>|<style>[^]*?<\/style>/g, '').matchAll(/<(\/?)(\w+)([^>]*)>|[^<]+/g)
  for (const [text, isEnd, tag, attributes] of tokens) {
    if (tag === undefined) open.at(-1).children.push(decoded(text))
    else if (isEnd === '/') assert.equal(open.pop().tag, tag)
    else {
      const node = { tag, attributes, children: [] }
      open.at(-1).children.push(node)
      if (!VOID.has(tag) && !attributes.endsWith('/')) open.push(node)
    }
  }
  assert.deepEqual(open, [document], 'every element ends')
  return document
}

/** All elements with a tag, in their order. */
export const elements = (node, tag) =>
  node.children.flatMap((child) =>
    typeof child === 'string' ? [] : [...(child.tag === tag ? [child] : []), ...elements(child, tag)],
  )

/** The text of an element. */
export const textOf = (node) =>
  node.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')

/** The rows of a table, the heads first. */
export const rowsOf = (node) =>
  elements(node, 'tr').map((row) => row.children.filter((cell) => typeof cell !== 'string').map(textOf))

/** A number with commas. */
export const numberOf = (text) => {
  assert.match(text, /^\d{1,3}(,\d{3})*$/)
  return Number(text.replaceAll(',', ''))
}

/**
 * The parts of a report: its cards, its note, and its sections by their titles. Each section has
 * its elements. Text that stands in none of them fails.
 *
 * @param {string} page
 */
export function reportOf(page) {
  const [main] = elements(treeOf(page), 'main')
  const sections = /** @type {Record<string, Node>} */ ({})
  let section = { tag: 'section', attributes: '', children: [] }
  const start = section
  for (const child of main.children) {
    if (typeof child === 'string') {
      assert.equal(child.trim(), '', 'text beside the elements of the page')
      continue
    }
    if (child.tag === 'h2') {
      section = { tag: 'section', attributes: '', children: [] }
      assert.ok(!Object.hasOwn(sections, textOf(child)), 'one section for a title')
      sections[textOf(child)] = section
    } else section.children.push(child)
  }
  const [cards] = elements(start, 'dl')
  const pairs = (node) =>
    elements(node, 'div').map((pair) => pair.children.map((one) => textOf(/** @type {any} */ (one))))
  return {
    title: elements(start, 'h1').map(textOf).join(),
    notes: elements(start, 'p').map(textOf),
    cards: Object.fromEntries(pairs(cards)),
    sections,
  }
}
