'use strict'

// MiniMax M2: invocations in tags.

module.exports = {
  name: 'minimax-m2',
  end: ['[e~['],
  reasoning: require('./think.js'),
  calls: [
    {
      open: ['<minimax:tool_call>'],
      close: ['</minimax:tool_call>'],
      body: 'headed',
      isBare: true,
      begin: ['<invoke name="', '<invoke name='],
      header: /^"?(?<name>[^"<>]+)"?$/,
      separator: ['">', '>'],
      parameters: {
        open: ['<parameter name="', '<parameter name='],
        separator: ['">', '>'],
        close: ['</parameter>'],
      },
      end: ['</invoke>'],
    },
  ],
}
