// Loads a tokenizer from the Hugging Face Hub, shows the progress of the download, and applies the
// chat template: `npm install tokenlane @huggingface/hub`, `node pretrained.mjs
// Qwen/Qwen2.5-7B-Instruct`.

import { Tokenizer } from 'tokenlane'

const [repo = 'Qwen/Qwen2.5-7B-Instruct'] = process.argv.slice(2)
const advice = {
  ERR_TOKENLANE_HUB_GATED: 'request access to the model first',
  ERR_TOKENLANE_HUB_NETWORK: 'the hub is not reachable, and the cache does not have the model',
}

try {
  const tokenizer = await Tokenizer.fromPretrained(repo, {
    signal: AbortSignal.timeout(60_000),
    onProgress: ({ file, loaded, total }) => loaded === total && console.error(`${file}: ${total} bytes`),
  })
  const messages = [{ role: 'user', content: 'Why is the sky blue?' }]
  console.log(tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true, tokenize: false }))
  console.log(`${tokenizer.countChat(messages, { addGenerationPrompt: true })} tokens`)
} catch (error) {
  console.error(advice[error.code] ?? error.message)
  process.exitCode = 1
}
