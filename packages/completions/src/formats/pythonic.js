'use strict'

// Llama 3.2 and 4, Gemma 3, OLMo 3 and LFM2 with calls in Python.

const { PYTHON } = require('../values.js')

const CALLS = { body: 'python', dialect: PYTHON }

module.exports = {
  name: 'pythonic',
  also: ['llama3-pythonic', 'llama4-pythonic', 'gemma3', 'olmo3', 'lfm2'],
  end: [
    '<|eot_id|>',
    '<|eom_id|>',
    '<|eot|>',
    '<|eom|>',
    '<|end_of_text|>',
    '<end_of_turn>',
    '<|im_end|>',
    '<|endoftext|>',
  ],
  reasoning: require('./think.js'),
  skip: ['<|python_tag|>'],
  calls: [
    { open: ['['], guess: 'first', ...CALLS },
    { open: ['<|python_start|>'], close: ['<|python_end|>'], ...CALLS },
    { open: ['<function_calls>'], close: ['</function_calls>'], ...CALLS },
    { open: ['<|tool_call_start|>'], close: ['<|tool_call_end|>'], ...CALLS },
    { open: ['```tool_code\n'], close: ['```'], ...CALLS },
  ],
}
