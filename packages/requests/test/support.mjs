// What the specs of counted requests share.

import fs from 'node:fs'

import { Tokenizer } from 'tokenlane'

/** The prices of a provider. */
export const read = (name) => JSON.parse(fs.readFileSync(new URL(`../prices/${name}.json`, import.meta.url), 'utf8'))
const loaded = new Map()
/** The tokenizer of a model. */
export function of(model) {
  if (!loaded.has(model)) loaded.set(model, Tokenizer.forModelSync(model))
  return loaded.get(model)
}

export const user = (content) => ({ role: 'user', content })

const QWEN =
  "{%- if tools %}{{- '<tools>' }}{% for t in tools %}{{ t | tojson }}{% endfor %}{{- '</tools>' }}{%- endif %}" +
  "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + (m.content or '') }}" +
  "{%- for c in m.tool_calls or [] %}{{- '<call>' + c.function.name + (c.function.arguments | tojson) }}{% endfor %}" +
  "{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% if think is false %}<no>{% endif %}{%- endif %}"
const file = new URL('../../../__test__/testdata/chat/tokenizer.json', import.meta.url)
/** A tokenizer with a chat template. */
export const local = Tokenizer.fromFileSync(file, { chatTemplate: QWEN })

/** The places of estimates. */
export const placesOf = ({ estimated }) => estimated.map(({ place }) => place)

export const TYPE = 'ERR_TOKENLANE_ARGUMENT_TYPE'
export const UNDOCUMENTED = 'ERR_TOKENLANE_CHAT_UNDOCUMENTED'
