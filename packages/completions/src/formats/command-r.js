'use strict'

// Command R and R+: an action in a block of JSON.

module.exports = {
  name: 'command-r',
  end: ['<|END_OF_TURN_TOKEN|>'],
  calls: [
    {
      open: ['Action: ```json\n', 'Action:```json\n'],
      close: ['```'],
      body: 'json',
      keys: { name: ['tool_name', 'name'], arguments: ['parameters', 'arguments'] },
    },
  ],
}
