'use strict'

// MiniMax M1: a JSON object a line.

module.exports = {
  name: 'minimax-m1',
  end: ['<end_of_sentence>', '[e~['],
  reasoning: require('./think.js'),
  calls: [{ open: ['<tool_calls>'], close: ['</tool_calls>'], body: 'json' }],
}
