#!/usr/bin/env node
// npm run workflows: reads .github/workflows and runs its jobs on this machine, as far as it can:
// in the order of `needs`, each in a clone of the last commit, with a PATH that has what the job's
// image has. Artifacts go through a folder. The packages of a release go to a registry on this
// machine, and are installed from it with each package manager and each version of Node.
//
//   usage: npm run maintain -- workflows [WORKFLOW…] [--only TEXT…] [--list] [--as-is] [--write]
//
//   WORKFLOW   ci, release or weekly; default: release
//   --only     runs the jobs with this text in their names; artifacts of others are those of their
//              last run here
//   --list     says what would run, and runs nothing
//   --as-is    builds with the profiles of Cargo.toml; without it, not optimized at the link
//   --write    writes the results to docs/measurements/platforms.md
//
// A job that cannot run here is left out with the reason, and files stand in for its artifacts:
// addons of `npm run maintain platforms` or of `npm test`, or texts. Needs git, rustup and, for the
// container of Alpine, apt and the right to mount. Everything is in ~/.cache/tokenlane-workflows
// (some gigabytes).

import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

import { Steps } from '../platforms/steps.mjs'
import { stop } from '../setup.mjs'
import { reasonAgainst } from './image.mjs'
import { installs } from './installs.mjs'
import { runJob, standIn } from './jobs.mjs'
import { ALL, downloadsOf, jobsOf, uploadsOf, workflowNames } from './read.mjs'
import { writeTable } from './report.mjs'
import { CACHE, Session } from './session.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', multiple: true },
    list: { type: 'boolean' },
    'as-is': { type: 'boolean', default: false },
    write: { type: 'boolean' },
  },
})
const names = positionals.length > 0 ? positionals : ['release']
for (const name of names) if (!workflowNames().includes(name)) stop(`there is no workflow ${name}`)
const INSTALLS = 'installs of what was published'

const changes = Session.changes
if (changes.length > 0 && !values.list)
  console.log(`not committed, so not in the clones of the jobs:\n${changes.join('\n')}`)
fs.mkdirSync(CACHE, { recursive: true })

/** @type {{ workflow: string, name: string, result: string }[]} */
const outcomes = []
for (const name of names) await runWorkflow(name)
for (const { workflow, name, result } of outcomes) console.log(`${workflow}: ${name}: ${result}`)
if (values.list) process.exit(0)
const failed = outcomes.filter(({ result }) => !/^(passed|left out)/.test(result))
if (failed.length > 0) stop(`${failed.length} of ${outcomes.length} jobs failed`)

/** Notes how a job ended, so that a run that is stopped leaves its results. */
function record(outcome) {
  outcomes.push(outcome)
  if (!values.write) return
  const all = workflowNames().flatMap((workflow) => [
    ...jobsOf(workflow).map(({ name }) => `${workflow} | ${name}`),
    `${workflow} | ${INSTALLS}`,
  ])
  const date = new Date().toISOString().slice(0, 10)
  writeTable(outcomes, all, `${date}${values['as-is'] ? ', `--as-is`' : ''}`)
}

async function runWorkflow(workflow) {
  const session = new Session(workflow)
  if (!values.list)
    session.keep(
      jobsOf(workflow)
        .flatMap(uploadsOf)
        .map(({ name }) => name),
    )
  /** @type {Set<string>} ids of jobs that failed, so that those that need them do not run */
  const broken = new Set()
  try {
    for (const job of jobsOf(workflow)) {
      const isChosen = values.only?.some((text) => job.name.includes(text)) ?? true
      if (values.list) {
        const reason = reasonAgainst(job)
        if (isChosen)
          outcomes.push({ workflow, name: job.name, result: reason ? `left out: ${reason}` : `runs: ${job.image}` })
        continue
      }
      if (!isChosen) {
        standIn(job, session)
        continue
      }
      console.log(`── ${workflow}: ${job.name}`)
      const failed = job.needs.find((id) => broken.has(id))
      let result =
        failed === undefined
          ? await runJob(job, session, { asIs: values['as-is'] })
          : `does not start: ${failed} failed`
      if (!/^(passed|left out)/.test(result)) broken.add(job.id)
      if (result.startsWith('left out')) standIn(job, session)
      const used = downloadsOf(job)
      const standIns = session.standIns.filter((name) => used.includes(name) || used.includes(ALL))
      if (result === 'passed' && standIns.length > 0) result += `; stand-ins for ${standIns.join(', ')}`
      console.log(`   ${result}`)
      record({ workflow, name: job.name, result })
      if (job.id === 'publish' && result.startsWith('passed')) record(await installed(workflow, session, job))
    }
  } finally {
    session.stop()
  }
}

async function installed(workflow, session, job) {
  const steps = new Steps()
  installs(steps, await session.registry(), path.join(session.placeOf(job), 'tokenlane'))
  const { passed, failed } = steps
  const result = failed.length > 0 ? `FAILED: ${failed.join('; ')}` : `passed, ${passed} of ${passed} steps`
  return { workflow, name: INSTALLS, result }
}
