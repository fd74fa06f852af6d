// Reads workflow files: a job for each entry of a matrix, in an order in which a job follows those
// that it needs. A key that this command does not emulate is an error, so that nothing of a
// workflow is left out silently.

import fs from 'node:fs'
import path from 'node:path'

import { parse } from 'yaml'

import { root, stop } from '../setup.mjs'
import { filled } from './expressions.mjs'

const FOLDER = path.join(root, '.github', 'workflows')
const KEYS = {
  workflow: ['name', 'on', 'permissions', 'concurrency', 'jobs', 'env'],
  job: [
    ...['name', 'needs', 'runs-on', 'container', 'timeout-minutes', 'strategy', 'steps', 'environment'],
    ...['permissions', 'if', 'env'],
  ],
  step: ['name', 'uses', 'with', 'run', 'shell', 'env', 'if'],
}

/**
 * A job with its entry of the matrix.
 *
 * @typedef {object} Job
 * @property {string} workflow the name of the file without its ending
 * @property {string} id
 * @property {string} name
 * @property {string[]} needs
 * @property {Record<string, any>} matrix
 * @property {string} image `runs-on`, or the image of the container
 * @property {boolean} inContainer
 * @property {Record<string, any>[]} steps
 * @property {Record<string, any>} source the job in the file
 * @property {Record<string, string>} env variables of the workflow and of the job
 * @property {Map<string, string>} comments the comment behind each action: its version
 */

/** The names of the workflow files, without their ending. */
export const workflowNames = () => fs.readdirSync(FOLDER).map((file) => path.parse(file).name)

/**
 * @param {string} name of {@link workflowNames}
 * @param {string} [text] the workflow, instead of its file
 * @returns {Job[]}
 */
export function jobsOf(name, text = fs.readFileSync(path.join(FOLDER, `${name}.yml`), 'utf8')) {
  // YAML 1.2, as GitHub: "on" is a text.
  const workflow = parse(text)
  const comments = new Map([...text.matchAll(/uses: (\S+) # (\S+)/g)].map(([, uses, comment]) => [uses, comment]))
  refuseUnknown(name, 'workflow', workflow)
  const sorted = inOrder(name, workflow.jobs)
  return sorted.flatMap(([id, source]) => {
    refuseUnknown(`${name}.${id}`, 'job', source)
    source.steps.forEach((step, at) => refuseUnknown(`${name}.${id}.steps[${at}]`, 'step', step))
    return matrixOf(source.strategy?.matrix).map((matrix) => ({
      ...jobOf(name, workflow, id, source, matrix),
      comments,
    }))
  })
}

/** @returns {Omit<Job, 'comments'>} */
function jobOf(name, workflow, id, source, matrix) {
  const contexts = { matrix }
  const container = filled(source.container, contexts)
  const entry = Object.values(matrix).filter((value) => typeof value !== 'object')
  return {
    workflow: name,
    id,
    name: source.name === undefined ? [id, ...entry].join(' ') : filled(source.name, contexts),
    needs: [source.needs ?? []].flat(),
    matrix,
    image: container || filled(source['runs-on'], contexts),
    inContainer: container !== '',
    steps: source.steps,
    source,
    env: { ...workflow.env, ...source.env },
  }
}

/**
 * What a job uploads.
 *
 * @param {Job} job
 * @returns {{ name: string, path: string }[]}
 */
export const uploadsOf = ({ steps, matrix }) =>
  steps
    .filter(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
    .map((step) => ({ name: filled(step.with.name, { matrix }), path: filled(step.with.path, { matrix }) }))

/** Stands for the name of every artifact. */
export const ALL = ''

/**
 * The names of the artifacts that a job downloads, or {@link ALL}.
 *
 * @param {Job} job
 */
export const downloadsOf = ({ steps, matrix }) =>
  steps
    .filter(({ uses }) => uses?.startsWith('actions/download-artifact@'))
    .map((step) => filled(step.with?.name ?? ALL, { matrix }))

function refuseUnknown(place, kind, object) {
  const unknown = Object.keys(object).filter((key) => !KEYS[kind].includes(key))
  if (unknown.length > 0) stop(`${place}: "${unknown.join('", "')}" is not emulated`)
}

/** The jobs in an order in which each one follows those that it needs. */
function inOrder(name, jobs) {
  const sorted = new Map()
  const add = (id, above) => {
    if (jobs[id] === undefined) stop(`${name}: there is no job ${id}`)
    if (above.includes(id)) stop(`${name}: the jobs ${[...above, id].join(', ')} need each other`)
    for (const needed of [jobs[id].needs ?? []].flat()) add(needed, [...above, id])
    sorted.set(id, jobs[id])
  }
  for (const id of Object.keys(jobs)) add(id, [])
  return [...sorted]
}

/**
 * The entries of a matrix. An object of `include` extends each combination whose values it does not
 * change; an object that extends none is an entry of its own.
 */
export function matrixOf({ include = [], exclude, ...axes } = /** @type {any} */ ({})) {
  if (exclude !== undefined) stop('"exclude" of a matrix is not emulated')
  const names = Object.keys(axes)
  const product = names.reduce(
    (entries, name) => entries.flatMap((entry) => axes[name].map((value) => ({ ...entry, [name]: value }))),
    [{}],
  )
  const combinations = names.length > 0 ? product : []
  const entries = combinations.map((entry) => ({ ...entry }))
  for (const extension of include) {
    const extended = entries.filter(
      (_, at) =>
        at < combinations.length &&
        names.every((name) => !(name in extension) || extension[name] === combinations[at][name]),
    )
    if (extended.length === 0) entries.push({ ...extension })
    for (const entry of extended) Object.assign(entry, extension)
  }
  return entries.length > 0 ? entries : [{}]
}
