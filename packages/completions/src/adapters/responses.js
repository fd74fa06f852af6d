'use strict'

// Events of OpenAI's Responses API.

const { CallEvents, FACTS, blocksOf } = require('./blocks.js')
const { checkNames } = require('../errors.js')

/** The item of each kind of block, and the names of the events that extend it. */
const KINDS = {
  text: {
    prefix: 'msg',
    item: (id, content, status) => ({ type: 'message', id, role: 'assistant', status, content }),
    part: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    grows: 'response.output_text',
  },
  reasoning: {
    prefix: 'rs',
    item: (id, content, status) => ({ type: 'reasoning', id, status, summary: [], content }),
    part: (text) => ({ type: 'reasoning_text', text }),
    grows: 'response.reasoning_text',
  },
}

/** The events of a step of a text or of reasoning. */
function textEvents(/** @type {any} */ { step, block, delta }, place, item) {
  const { part, grows } = KINDS[block.type]
  const at = { ...place, content_index: 0 }
  if (step === 'start')
    return [
      { type: 'response.output_item.added', output_index: block.index, item },
      { type: 'response.content_part.added', ...at, part: part('') },
    ]
  const logprobs = block.type === 'text' ? { logprobs: [] } : {}
  if (step === 'delta') return [{ type: `${grows}.delta`, ...at, delta, ...logprobs }]
  return [
    { type: `${grows}.done`, ...at, text: block.text, ...logprobs },
    { type: 'response.content_part.done', ...at, part: part(block.text) },
    { type: 'response.output_item.done', output_index: block.index, item },
  ]
}

function callEvents(/** @type {any} */ { step, block, delta }, place, item) {
  if (step === 'start') return [{ type: 'response.output_item.added', output_index: block.index, item }]
  const grows = 'response.function_call_arguments'
  if (step === 'delta') return [{ type: `${grows}.delta`, ...place, delta }]
  return [
    { type: `${grows}.done`, ...place, name: block.name, arguments: block.text },
    { type: 'response.output_item.done', output_index: block.index, item },
  ]
}

function itemOf({ type, index, id, name, text }, status) {
  if (type === 'toolCall')
    return { type: 'function_call', id: `fc_${index}`, call_id: id, name, arguments: text, status }
  const { prefix, item, part } = KINDS[type]
  return item(`${prefix}_${index}`, status === 'completed' ? [part(text)] : [], status)
}

/** Why a response is incomplete, by the reason of an answer. */
const INCOMPLETE = { length: 'max_output_tokens', content_filter: 'content_filter' }

async function* toResponses(events, facts = {}) {
  checkNames(facts, FACTS)
  const { model = '', id = 'resp_0', created = 0 } = facts
  const output = []
  const response = (status, more) => ({
    id,
    object: 'response',
    created_at: created,
    status,
    model,
    output: [...output],
    error: null,
    incomplete_details: null,
    ...more,
  })
  let count = 0
  const numbered = (event) => ({ ...event, sequence_number: count++ })
  yield numbered({ type: 'response.created', response: response('in_progress') })
  for await (const step of blocksOf(events)) {
    const { block } = step
    if (step.step === 'finish') {
      const reason = INCOMPLETE[step.reason]
      const more = reason === undefined ? {} : { incomplete_details: { reason } }
      const status = reason === undefined ? 'completed' : 'incomplete'
      yield numbered({ type: `response.${status}`, response: response(status, more) })
      return
    }
    const item = itemOf(block, step.step === 'end' ? 'completed' : 'in_progress')
    const place = { item_id: item.id, output_index: block.index }
    if (step.step === 'end') output[block.index] = item
    const steps = block.type === 'toolCall' ? callEvents : textEvents
    for (const event of steps(step, place, item)) yield numbered(event)
  }
}

const TEXTS = {
  'response.output_text.delta': 'text',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
}

/** Why an answer ended, by the event that ends a response; undefined for other events. */
function endOf({ type, response }, hasCalls) {
  if (type === 'response.incomplete')
    return response?.incomplete_details?.reason === 'content_filter' ? 'content_filter' : 'length'
  if (type === 'response.completed') return hasCalls ? 'tool_calls' : 'stop'
  return type === 'response.failed' || type === 'error' ? 'stop' : undefined
}

async function* fromResponses(events) {
  const calls = new CallEvents()
  for await (const event of events) {
    const { type, item, output_index: at } = event
    const reason = endOf(event, calls.count > 0)
    if (reason !== undefined) {
      yield* calls.endAll()
      yield { type: 'finish', reason }
      return
    }
    if (Object.hasOwn(TEXTS, type)) yield { type: TEXTS[type], text: event.delta }
    else if (type === 'response.output_item.added' && item?.type === 'function_call')
      yield* calls.grow(at, item.arguments, { id: item.call_id, name: item.name })
    else if (type === 'response.function_call_arguments.delta' && calls.has(at)) yield* calls.grow(at, event.delta)
    else if (type === 'response.output_item.done') yield* calls.end(at)
  }
}

module.exports = { fromResponses, toResponses }
