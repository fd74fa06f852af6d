// Expressions of workflow files, `${{ … }}`, by GitHub's own library.

import { Evaluator, Lexer, Parser, data } from '@actions/expressions'
import { reviver } from '@actions/expressions/data/reviver'
import { truthy } from '@actions/expressions/result'

/**
 * The objects that an expression names, such as matrix.
 *
 * @typedef {Record<string, unknown>} Contexts
 */

const STATUS = ['success', 'always', 'failure', 'cancelled']

/**
 * The text with its expressions replaced by their values.
 *
 * @param {unknown} text
 * @param {Contexts} contexts
 */
export function filled(text, contexts) {
  return String(text ?? '').replace(/\$\{\{([^]*?)\}\}/g, (_, expression) =>
    valueOf(expression, contexts, false).coerceString(),
  )
}

/**
 * Whether a condition (`if`) holds. Without a function of the status it holds only if all steps
 * before have passed.
 *
 * @param {unknown} condition
 * @param {Contexts} contexts
 * @param {boolean} failed whether a step or a job before has failed
 */
export function holds(condition, contexts, failed) {
  const expression = String(condition ?? 'success()').replace(/^\s*\$\{\{([^]*)\}\}\s*$/, '$1')
  const hasStatus = new RegExp(`\\b(${STATUS.join('|')})\\s*\\(`).test(expression)
  return (hasStatus || !failed) && truthy(valueOf(expression, contexts, failed))
}

function valueOf(expression, contexts, failed) {
  const results = { success: !failed, always: true, failure: failed, cancelled: false }
  const functions = STATUS.map((name) => ({
    name,
    minArgs: 0,
    maxArgs: 0,
    call: () => new data.BooleanData(results[name]),
  }))
  const { tokens } = new Lexer(expression.trim()).lex()
  // An unknown context or function is an error here, as on GitHub.
  const parsed = new Parser(tokens, Object.keys(contexts), functions).parse()
  const dictionary = JSON.parse(JSON.stringify(contexts), reviver)
  return new Evaluator(parsed, dictionary, new Map(functions.map((entry) => [entry.name, entry]))).evaluate()
}
