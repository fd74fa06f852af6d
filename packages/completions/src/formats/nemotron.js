'use strict'

// Nemotron Nano v2 and Super: an array of JSON objects between tags.

module.exports = {
  name: 'nemotron',
  end: ['<SPECIAL_12>', '<|eot_id|>', '</s>', '<|im_end|>'],
  reasoning: require('./think.js'),
  calls: [{ open: ['<TOOLCALL>'], close: ['</TOOLCALL>'], body: 'json' }],
}
