'use strict'

// Phi-4-mini: an array of JSON objects after a word or between tokens.

module.exports = {
  name: 'phi-4',
  end: ['<|end|>', '<|endoftext|>', '<|im_end|>'],
  reasoning: require('./think.js'),
  calls: [
    { open: ['<|tool_call|>'], close: ['<|/tool_call|>'], body: 'json' },
    { open: ['functools'], body: 'json' },
  ],
}
