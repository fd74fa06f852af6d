'use strict'

// gpt-oss: messages with a channel and a recipient.

module.exports = {
  name: 'harmony',
  also: ['gpt-oss'],
  trim: '',
  messages: {
    start: '<|start|>',
    channel: '<|channel|>',
    constrain: '<|constrain|>',
    message: '<|message|>',
    ends: ['<|end|>', '<|call|>', '<|return|>', '<|endoftext|>'],
  },
}
