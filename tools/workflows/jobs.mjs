// Runs a job of a workflow: its steps, one after the other, in a clone of the repository.

import fs from 'node:fs'
import path from 'node:path'

import { addonOf, builtFolder, PLATFORMS } from '../platforms/table.mjs'
import { WEB } from '../release/stage.mjs'
import { root } from '../setup.mjs'
import { act } from './actions.mjs'
import { filled, holds } from './expressions.mjs'
import { Machine, reasonAgainst } from './image.mjs'
import { uploadsOf } from './read.mjs'

/** Builds are tested here, not measured, so they are not optimized at the link. */
const CHEAP_BUILDS = {
  CARGO_PROFILE_RELEASE_LTO: 'off',
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
  CARGO_PROFILE_WEB_LTO: 'off',
  CARGO_PROFILE_WEB_CODEGEN_UNITS: '16',
}
/** Variables of steps that name what only GitHub has. */
const REPLACED = {
  // npm signs with GitHub's identity of the job.
  NPM_CONFIG_PROVENANCE: 'false',
}
/** This machine may be slower than GitHub's, and busy: factor for the limits of jobs. */
const PATIENCE = 4

/**
 * @param {import('./read.mjs').Job} job
 * @param {import('./session.mjs').Session} session
 * @param {{ asIs: boolean }} options `asIs` builds with the profiles of Cargo.toml
 * @returns {Promise<string>} `passed`, `left out: …` or `FAILED: …`
 */
export async function runJob(job, session, { asIs }) {
  const reason = reasonAgainst(job)
  if (reason !== undefined) return `left out: ${reason}`
  const place = session.placeOf(job)
  const machine = new Machine(job, place, session.cache)
  const log = path.join(place, 'log')
  const github = {
    token: 'none',
    sha: session.commit,
    ref_name: refName(job.workflow),
    workflow: job.workflow,
    ref: `refs/${refName(job.workflow)}`,
  }
  const contexts = {
    matrix: job.matrix,
    github,
    runner: { os: 'Linux', arch: process.arch.toUpperCase() },
    env: job.env,
  }
  Object.assign(machine.env, asIs ? {} : CHEAP_BUILDS, {
    CI: 'true',
    LANG: 'C.UTF-8',
    GITHUB_REF_NAME: github.ref_name,
    GITHUB_SHA: github.sha,
    GITHUB_WORKSPACE: machine.workspace,
    RUNNER_OS: 'Linux',
    ...variables(job.env, contexts),
  })
  const seconds = (job.source['timeout-minutes'] ?? 60) * 60 * PATIENCE
  const leftOut = []
  try {
    for (const step of job.steps) {
      if (!holds(step.if, contexts, false)) continue
      const name = filled(step.name ?? step.run?.trim().split('\n')[0] ?? step.uses.split('@')[0], contexts)
      console.log(`   ${name}`)
      fs.appendFileSync(log, `\n── ${name}\n`)
      const why = await runStep(step, { job, session, machine, contexts, log, seconds })
      if (why?.startsWith('left out: ')) leftOut.push(`${name}: ${why.slice(10)}`)
      else if (why !== undefined) return `FAILED: \`${name}\`: ${why}${endOf(log)}`
    }
  } finally {
    session.end()
  }
  return leftOut.length > 0 ? `passed; left out: ${leftOut.join('; ')}` : 'passed'
}

/** The tag of a release; the branch of others. */
function refName(workflow) {
  const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return workflow === 'release' ? `v${version}` : 'main'
}

const variables = (env, contexts) =>
  Object.fromEntries(Object.entries(env ?? {}).map(([name, value]) => [name, filled(value, contexts)]))

async function runStep(step, { job, session, machine, contexts, log, seconds }) {
  if (step.uses !== undefined) {
    const comment = job.comments.get(step.uses) ?? ''
    return await act(step.uses, variables(step.with, contexts), { machine, session, comment })
  }
  const env = variables(step.env, contexts)
  if (env.NPM_CONFIG_PROVENANCE === 'true' && job.source.permissions?.['id-token'] !== 'write')
    return 'npm signs only with the permission "id-token: write"'
  for (const name of Object.keys(REPLACED)) if (name in env) env[name] = REPLACED[name]
  return machine.run(filled(step.run, contexts), { shell: step.shell, env, log, seconds })
}

/** The last lines of a log; the error in them, or else the last one, is a part of the result. */
function endOf(log) {
  const lines = fs.readFileSync(log, 'utf8').trimEnd().split('\n')
  console.log(`${lines.slice(-25).join('\n')}\n   all of it is in ${log}`)
  const step = lines.slice(lines.findLastIndex((line) => line.startsWith('── ')) + 1)
  const isReason = (line) => line.trim() !== '' && !line.includes('A complete log')
  const reason =
    step.findLast((line) => /^\w*Error: |^npm error/.test(line) && isReason(line)) ?? step.findLast(isReason) ?? ''
  return ` (${reason.replaceAll(path.dirname(log), '').trim()})`
}

/**
 * Puts files in the place of the artifacts of a job that did not run here: addons of `npm run
 * maintain platforms` or of `npm test` if they are built, or else texts. Jobs that need them then
 * run as far as they do not load them.
 */
export function standIn(job, session) {
  for (const { name, path: paths } of uploadsOf(job)) {
    if (session.artifacts().includes(name)) continue
    const platform = PLATFORMS.find((entry) => entry.name === job.matrix.name)
    const files = paths
      .trim()
      .split('\n')
      .map((line) => path.basename(line.trim()).replace('*', job.matrix.name))
    const write = (folder) => {
      if (platform !== undefined && fs.existsSync(addonOf(platform))) {
        fs.cpSync(builtFolder(platform), folder, { recursive: true })
        const addon = path.basename(addonOf(platform))
        fs.renameSync(path.join(folder, addon), path.join(folder, addon.replace(platform.built, platform.name)))
        return
      }
      for (const file of files[0] === 'dist' ? WEB : files) {
        fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
        if (platform !== undefined && fs.existsSync(path.join(root, file)))
          fs.copyFileSync(path.join(root, file), path.join(folder, file))
        else fs.writeFileSync(path.join(folder, file), `${job.name} did not run here\n`)
      }
    }
    session.store(name, write, { isStandIn: true })
  }
}
