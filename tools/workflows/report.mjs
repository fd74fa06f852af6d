// The table of docs/measurements/platforms.md with the last run of each job.

import fs from 'node:fs'
import path from 'node:path'

import { root } from '../setup.mjs'

const PAGE = path.join(root, 'docs', 'measurements', 'platforms.md')
const [BEGIN, END] = ['<!-- workflows -->', '<!-- end of workflows -->']
const HEAD = '| workflow | job | result on this machine | run |\n|---|---|---|---|\n'

/**
 * Replaces the rows of jobs that ran, and removes rows of jobs that are gone. A job that this
 * machine cannot run has no row.
 *
 * @param {{ workflow: string, name: string, result: string }[]} outcomes of this run
 * @param {string[]} all `workflow | job` of every job that there is
 * @param {string} run the date and what was particular
 */
export function writeTable(outcomes, all, run) {
  fs.writeFileSync(PAGE, withRows(fs.readFileSync(PAGE, 'utf8'), outcomes, all, run))
}

/** The page with the rows of these outcomes. */
export function withRows(page, outcomes, all, run) {
  const [start, end] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
  const rows = new Map(
    page
      .slice(start, end)
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => [line.split(' | ', 2).join(' | ').slice(2), line]),
  )
  for (const { workflow, name, result } of outcomes.filter(({ result }) => !result.startsWith('left out')))
    rows.set(`${workflow} | ${name}`, `| ${workflow} | ${name} | ${result.replaceAll('|', '\\|')} | ${run} |`)
  const lines = all.filter((key) => rows.has(key)).map((key) => rows.get(key))
  return `${page.slice(0, start)}\n${HEAD}${lines.join('\n')}\n${page.slice(end)}`
}
