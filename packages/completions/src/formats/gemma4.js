'use strict'

// Gemma 4: literals with keys without quotes.

const { gemma } = require('../values.js')

module.exports = {
  name: 'gemma4',
  end: ['<turn|>', '<eos>', '<|tool_response>'],
  reasoning: { open: ['<|channel>thought\n', '<|channel>thought', '<|channel>'], close: ['<channel|>'] },
  calls: [
    {
      open: ['<|tool_call>'],
      close: ['<tool_call|>'],
      body: 'headed',
      begin: ['call:', ':'],
      until: ['{'],
      dialect: gemma('<|"|>'),
    },
  ],
}
