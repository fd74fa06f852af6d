'use strict'

// Llama 3.1 to 4 with calls in JSON, also those in the tag of a function.

const JSON_CALL = { body: 'json', keys: { arguments: ['parameters', 'arguments'] } }

module.exports = {
  name: 'llama3',
  also: ['llama3-json', 'llama4-json'],
  end: ['<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|eot|>', '<|eom|>'],
  skip: ['<|python_tag|>', '<|python_start|>', '<|python_end|>'],
  calls: [
    { open: ['{'], guess: 'any', ...JSON_CALL },
    { open: ['['], guess: 'first', ...JSON_CALL },
    { open: ['<function='], begin: ['<function='], separator: ['>'], body: 'headed', end: ['</function>'] },
  ],
}
