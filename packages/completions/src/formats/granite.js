'use strict'

// Granite 3: an array of JSON objects, and reasoning between sentences.

module.exports = {
  name: 'granite',
  end: ['<|end_of_text|>'],
  reasoning: {
    open: ['Here is my thought process:', "Here's my thought process:", '<think>'],
    close: ['Here is my response:', "Here's my response:", '</think>'],
  },
  skip: ['<response>', '</response>'],
  calls: [{ open: ['<|tool_call|>', '<tool_call>'], body: 'json' }],
}
