'use strict'

// Hermes 2 and 3, Qwen 2.5 and 3, QwQ: JSON objects between tags.

module.exports = {
  name: 'hermes',
  also: ['qwen2.5', 'qwen3', 'smollm3'],
  end: ['<|im_end|>', '<|endoftext|>'],
  reasoning: require('./think.js'),
  calls: [{ open: ['<tool_call>'], close: ['</tool_call>'], body: 'json' }],
}
