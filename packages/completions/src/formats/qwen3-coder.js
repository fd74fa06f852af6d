'use strict'

// Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, Seed-OSS: functions and parameters in tags.

module.exports = {
  name: 'qwen3-coder',
  also: ['qwen3.5', 'step3.5', 'nemotron3', 'seed-oss'],
  end: ['<|im_end|>', '<|endoftext|>', '<seed:eos>'],
  reasoning: { open: ['<think>', '<seed:think>'], close: ['</think>', '</seed:think>'] },
  calls: [
    {
      open: ['<tool_call>', '<seed:tool_call>'],
      close: ['</tool_call>', '</seed:tool_call>'],
      body: 'headed',
      isBare: true,
      begin: ['<function='],
      separator: ['>'],
      parameters: { open: ['<parameter='], separator: ['>'], close: ['</parameter>'], isTrimmed: true },
      end: ['</function>'],
    },
  ],
}
