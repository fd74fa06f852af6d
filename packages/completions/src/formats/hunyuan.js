'use strict'

// Hunyuan A13B: an array of JSON objects between tags, and an answer between tags.

module.exports = {
  name: 'hunyuan',
  end: ['<|eos|>', '<|endoftext|>'],
  reasoning: require('./think.js'),
  skip: ['<answer>', '</answer>'],
  calls: [{ open: ['<tool_calls>'], close: ['</tool_calls>'], body: 'json' }],
}
