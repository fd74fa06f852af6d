'use strict'

// Mistral: v3 to v7 with an array of JSON objects, v11 and v13 with a name, an id and arguments.

module.exports = {
  name: 'mistral',
  also: ['mistral-v3', 'mistral-v7', 'mistral-v11', 'mistral-v13', 'ministral', 'magistral', 'devstral'],
  trim: '',
  idLength: 9,
  end: ['</s>'],
  reasoning: { open: ['[THINK]', '<think>'], close: ['[/THINK]', '</think>'] },
  calls: [
    {
      open: ['[TOOL_CALLS]'],
      begin: ['[TOOL_CALLS]'],
      body: 'headed',
      header: /^(?<name>[^\s[{]+)(?:\s*\[CALL_ID\]\s*(?<id>[^\s[{]+))?$/,
      separator: ['[ARGS]'],
      until: ['{'],
      ifJson: { keys: { id: ['id'] } },
    },
  ],
}
