'use strict'

// The order in which a template is tried with the formats: those that others could be taken for
// come last.

module.exports = [
  require('./harmony.js'),
  require('./qwen3-coder.js'),
  require('./glm-4.5.js'),
  require('./hermes.js'),
  require('./mistral.js'),
  require('./deepseek-v3.1.js'),
  require('./deepseek-v3.js'),
  require('./deepseek-v3.2.js'),
  require('./kimi-k2.js'),
  require('./minimax-m2.js'),
  require('./hunyuan.js'),
  require('./minimax-m1.js'),
  require('./gemma4.js'),
  require('./functiongemma.js'),
  require('./command-a.js'),
  require('./command-r.js'),
  require('./phi-4.js'),
  require('./granite.js'),
  require('./step3.js'),
  require('./nemotron.js'),
  require('./pythonic.js'),
  require('./llama3.js'),
  require('./plain.js'),
]
