'use strict'

// GLM 4.5 and later: a name, and keys and values in tags.

module.exports = {
  name: 'glm-4.5',
  also: ['glm-4.6', 'glm-4.7'],
  end: ['<|user|>', '<|observation|>', '<|endoftext|>'],
  reasoning: require('./think.js'),
  calls: [
    {
      open: ['<tool_call>'],
      begin: ['<tool_call>'],
      body: 'headed',
      until: ['<arg_key>'],
      parameters: {
        open: ['<arg_key>'],
        separator: ['</arg_key>'],
        value: ['<arg_value>'],
        close: ['</arg_value>'],
      },
      end: ['</tool_call>'],
    },
  ],
}
