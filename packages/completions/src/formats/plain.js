'use strict'

// Reasoning between tags, and an answer that is a call if it is one JSON object or an array of them.



module.exports = {
  name: 'plain',
  end: ["<|im_end|>", "<|endoftext|>", "</s>"],
  reasoning: require('./think.js'),
  calls: [
    { open: ['{'], guess: 'first', body: 'json' },
    { open: ['['], guess: 'first', body: 'json' },
  ],
}
