'use strict'

// FunctionGemma: as Gemma 4, with other tokens.

const { gemma } = require('../values.js')

module.exports = {
  name: 'functiongemma',
  end: ['<end_of_turn>', '<eos>', '<start_function_response>'],
  calls: [
    {
      open: ['<start_function_call>'],
      close: ['<end_function_call>'],
      body: 'headed',
      begin: ['call:'],
      until: ['{'],
      dialect: gemma('<escape>'),
    },
  ],
}
