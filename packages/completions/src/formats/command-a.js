'use strict'

// Command A, R7B and later: an action in JSON, reasoning and answers between tokens.

module.exports = {
  name: 'command-a',
  also: ['command-r7b'],
  end: ['<|END_OF_TURN_TOKEN|>'],
  reasoning: { open: ['<|START_THINKING|>'], close: ['<|END_THINKING|>'] },
  skip: ['<|START_RESPONSE|>', '<|END_RESPONSE|>', '<|START_TEXT|>', '<|END_TEXT|>'],
  calls: [
    {
      open: ['<|START_ACTION|>'],
      close: ['<|END_ACTION|>'],
      body: 'json',
      keys: { name: ['tool_name', 'name'], arguments: ['parameters', 'arguments'], id: ['tool_call_id'] },
    },
  ],
}
