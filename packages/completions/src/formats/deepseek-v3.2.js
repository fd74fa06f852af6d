'use strict'

// DeepSeek V3.2 and V4: invocations in tags, whose parameters say whether they are text.

const PARAMETER = '<｜DSML｜parameter name="'

module.exports = {
  name: 'deepseek-v3.2',
  also: ['deepseek-v4'],
  end: ['<｜end▁of▁sentence｜>'],
  reasoning: require('./think.js'),
  calls: [
    {
      open: ['<｜DSML｜function_calls>', '<｜DSML｜tool_calls>'],
      close: ['</｜DSML｜function_calls>', '</｜DSML｜tool_calls>'],
      body: 'headed',
      isBare: true,
      begin: ['<｜DSML｜invoke name="'],
      separator: ['">'],
      parameters: {
        open: [PARAMETER],
        separator: ['" string="true">', '" string="false">', '">'],
        close: ['</｜DSML｜parameter>'],
        types: {
          '" string="true">': ['string'],
          '" string="false">': ['object', 'array', 'number', 'boolean', 'null'],
        },
      },
      end: ['</｜DSML｜invoke>'],
    },
  ],
}
