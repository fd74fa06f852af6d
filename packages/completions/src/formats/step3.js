'use strict'

// Step 3: invocations in tags.

module.exports = {
  name: 'step3',
  end: ['<|EOT|>', '<｜end▁of▁sentence｜>'],
  reasoning: require('./think.js'),
  calls: [
    {
      open: ['<｜tool_calls_begin｜>'],
      close: ['<｜tool_calls_end｜>'],
      body: 'headed',
      isBare: true,
      begin: ['<｜tool_call_begin｜>'],
      header: /^(?:function)?(?:\s*<｜tool_sep｜>)?(?:\s*<steptml:invoke name=")?(?<name>[^"<>\s]+)$/,
      separator: ['">'],
      parameters: {
        open: ['<steptml:parameter name="'],
        separator: ['">'],
        close: ['</steptml:parameter>'],
      },
      end: ['</steptml:invoke><｜tool_call_end｜>', '<｜tool_call_end｜>', '</steptml:invoke>'],
    },
  ],
}
