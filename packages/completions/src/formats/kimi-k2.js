'use strict'

// Kimi K2: the header of a call is its id, which has the name.

module.exports = {
  name: 'kimi-k2',
  trim: '',
  end: ['<|im_end|>', '[EOS]'],
  reasoning: {
    open: ['<think>', '◁think▷'],
    close: ['</think>', '◁/think▷'],
  },
  calls: [
    {
      open: ['<|tool_calls_section_begin|>', '<|tool_call_section_begin|>'],
      close: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>'],
      body: 'headed',
      isBare: true,
      begin: ['<|tool_call_begin|>'],
      header: /^(?<id>(?:functions\.)?(?<name>[^\s<>{}"']+?)(?::\d+)?)$/,
      separator: ['<|tool_call_argument_begin|>'],
      end: ['<|tool_call_end|>'],
    },
  ],
}
