'use strict'

// DeepSeek V3.1: a name and arguments.

module.exports = {
  name: 'deepseek-v3.1',
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
      separator: ['<｜tool▁sep｜>'],
      end: ['<｜tool▁call▁end｜>'],
    },
  ],
}
