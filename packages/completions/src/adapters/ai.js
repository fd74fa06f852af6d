'use strict'

// Stream parts of LanguageModelV3 of the package `ai`.

const { CallEvents, blocksOf, reasonOf } = require('./blocks.js')

const NO_USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

async function* toAiSdk(events) {
  yield { type: 'stream-start', warnings: [] }
  for await (const { step, block, delta, reason } of blocksOf(events)) {
    if (step === 'finish') {
      yield { type: 'finish', usage: NO_USAGE, finishReason: { unified: reason.replace('_', '-'), raw: reason } }
    } else if (block.type === 'toolCall') {
      if (step === 'start') yield { type: 'tool-input-start', id: block.id, toolName: block.name }
      else if (step === 'delta') yield { type: 'tool-input-delta', id: block.id, delta }
      else {
        yield { type: 'tool-input-end', id: block.id }
        yield { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.text }
      }
    } else {
      const part = { type: `${block.type}-${step}`, id: String(block.index) }
      yield step === 'delta' ? { ...part, delta } : part
    }
  }
}

async function* fromAiSdk(parts) {
  const calls = new CallEvents()
  for await (const part of parts) {
    if (part.type === 'text-delta') yield { type: 'text', text: part.delta }
    else if (part.type === 'reasoning-delta') yield { type: 'reasoning', text: part.delta }
    else if (part.type === 'tool-input-start') yield* calls.grow(part.id, '', { id: part.id, name: part.toolName })
    else if (part.type === 'tool-input-delta') yield* calls.grow(part.id, part.delta)
    else if (part.type === 'tool-input-end') yield* calls.end(part.id)
    else if (part.type === 'tool-call' && !calls.has(part.toolCallId)) {
      // A provider that does not stream the input.
      yield* calls.grow(part.toolCallId, part.input, { id: part.toolCallId, name: part.toolName })
      yield* calls.end(part.toolCallId)
    } else if (part.type === 'finish') {
      yield* calls.endAll()
      yield { type: 'finish', reason: reasonOf(part.finishReason.unified) }
    }
  }
}

module.exports = { fromAiSdk, toAiSdk }
