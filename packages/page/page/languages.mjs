// The costs of the same sentence in each language, for both tokenizers.

import { labelsOf } from './names.mjs'
import { watchOverflow } from './overflow.mjs'
import { number } from './visible.mjs'

/** Maximum length of a tokenizer's name above its columns, in characters. */
const MAX_LABEL = 34

/** @type {[title: string, cell: (cost: any) => string][]} */
const COLUMNS = [
  ['tokens', ({ tokens }) => number(tokens)],
  ['per character', ({ perCharacter }) => number(perCharacter, 2)],
  ['per word', ({ perWord }) => number(perWord, 2)],
  ['relative to English', ({ timesEnglish }) => `${number(timesEnglish, 1)} ×`],
]

/**
 * @param {string[]} names the tokenizers
 * @param {any[][]} costs for each tokenizer the costs of each language
 * @param {(text: string) => void} onChoose is called with the chosen sentence
 */
export function showLanguages(names, costs, onChoose) {
  const table = document.getElementById('languages')
  const labels = labelsOf(names, MAX_LABEL)
  const max = Math.max(...costs.flat().map(({ timesEnglish }) => timesEnglish))
  const head = element('thead', {}, [
    element('tr', {}, [
      element('th', { scope: 'col', rowSpan: 2 }, ['Language']),
      ...names.map((name, index) =>
        element('th', { scope: 'colgroup', colSpan: COLUMNS.length, className: `b${index}`, title: name }, [
          labels[index],
        ]),
      ),
    ]),
    element(
      'tr',
      {},
      names.flatMap(() => COLUMNS.map(([title]) => element('th', { scope: 'col' }, [title]))),
    ),
  ])
  const body = element(
    'tbody',
    {},
    costs[0].map((_, row) =>
      languageRow(
        costs.map((list) => list[row]),
        max,
        onChoose,
      ),
    ),
  )
  table.replaceChildren(head, body)
}

watchOverflow(document.querySelector('.scroll'), document.querySelector('.sideways'))

function languageRow(costs, max, onChoose) {
  const [{ language, code, text }] = costs
  const button = element(
    'button',
    { type: 'button', title: text, lang: code, ariaLabel: `${language}: show the tokens of the sentence` },
    [language],
  )
  button.addEventListener('click', () => onChoose(text))
  const cells = costs.flatMap((cost) =>
    COLUMNS.map(([, cell], column) => {
      const td = element('td', {}, [cell(cost)])
      if (column === COLUMNS.length - 1) {
        td.className = 'times'
        td.style.setProperty('--part', cost.timesEnglish / max)
      }
      return td
    }),
  )
  return element('tr', {}, [element('th', { scope: 'row' }, [button]), ...cells])
}

function element(name, properties, children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}
