'use strict'

// DeepSeek V3 and R1: a name, and arguments in a block of JSON.

module.exports = {
  name: 'deepseek-v3',
  also: ['deepseek-r1'],
  trim: '',
  end: ['<｜end▁of▁sentence｜>'],
  reasoning: require('./think.js'),
  calls: [
    {
      open: ['<｜tool▁calls▁begin｜>'],
      close: ['<｜tool▁calls▁end｜>'],
      body: 'headed',
      isBare: true,
      begin: ['<｜tool▁call▁begin｜>'],
      header: /^(?:function\s*<｜tool▁sep｜>\s*)?(?<name>[^\s<]+)$/,
      separator: ['\n```json\n', '```json\n', '```json'],
      end: ['<｜tool▁call▁end｜>'],
      filler: /^[\s`]*$/,
    },
  ],
}
