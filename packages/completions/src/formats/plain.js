'use strict'

// Reasoning between tags; an answer that is a JSON object or an array of them can be a call.

module.exports = {
  name: 'plain',
  end: ['<|im_end|>', '<|endoftext|>', '</s>'],
  reasoning: require('./think.js'),
  calls: [
    { open: ['{'], guess: 'first', body: 'json' },
    { open: ['['], guess: 'first', body: 'json' },
  ],
}
