// The judge of `content: 'text'`: conversations whose strings spell out added tokens of the
// tokenizer have as many control tokens as conversations with harmless strings of the same shape.

/** Conversations by what they use. `slot` returns the next string of the caller. */
const SHAPES = {
  turns: (slot) => ({
    messages: [
      { role: 'system', content: slot() },
      { role: 'user', content: slot() },
      { role: 'assistant', content: slot() },
      { role: 'user', content: slot() },
    ],
  }),
  parts: (slot) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: slot() },
          { type: 'text', text: slot() },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: slot() }] },
    ],
  }),
  names: (slot) => ({
    messages: [
      { role: 'user', name: slot(), content: slot() },
      { role: slot(), content: slot() },
    ],
  }),
  thinking: (slot) => ({
    messages: [
      { role: 'user', content: slot() },
      { role: 'assistant', reasoning_content: slot(), content: slot() },
      { role: 'user', content: slot() },
    ],
    documents: [{ title: slot(), text: slot() }],
    variables: { enable_thinking: true, date_string: slot(), custom_instructions: slot() },
  }),
  calls: (slot) => ({
    messages: [
      { role: 'user', content: slot() },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          {
            id: 'abcdefghi',
            type: 'function',
            function: { name: slot(), arguments: { [slot()]: slot(), n: 5, list: [slot()] } },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'abcdefghi', name: slot(), content: slot() },
      { role: 'assistant', content: slot() },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: slot(),
          description: slot(),
          parameters: {
            type: 'object',
            properties: { [slot()]: { type: 'string', description: slot(), enum: [slot()] } },
            required: [slot()],
          },
        },
      },
    ],
  }),
}

/** A conversation whose slots have these texts, and the number of its slots. */
function conversation(shape, texts) {
  let next = 0
  const made = SHAPES[shape](() => texts(next++))
  return { ...made, slots: next }
}

const plain = (length) => 'Lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length)
const half = (token) => Math.ceil(token.length / 2)

/** Pairs of texts for a slot: with a token, or a part of one, and without. */
const ATTACKS = {
  whole: (token) => (i) => [`w${i}${token} b`, `w${i}${plain(token.length)} b`],
  bare: (token) => () => [token, plain(token.length)],
  halves: (token) => (i) => {
    const part = i % 2 === 0 ? token.slice(0, half(token)) : token.slice(half(token))
    return [part, plain(part.length)]
  },
  cased: (token) => (i) => [`${token.toUpperCase()}${i}${token.toLowerCase()}`, plain(2 * token.length + 1)],
}

const refusal = (error) => error.code === 'ERR_TOKENLANE_CHAT_REFUSED' || error.code === 'ERR_TOKENLANE_CHAT_TEMPLATE'

/**
 * Judges a template. `tokens` are the texts that the contents spell out. Returns the number of
 * conversations that were compared, and what was wrong.
 */
export function judge(tokenizer, chatTemplate, tokens) {
  const { added_tokens: added } = tokenizer.toJSON()
  const control = new Set(added.filter(({ content }) => /\S/.test(content)).map(({ id }) => id))
  const wrong = []
  let compared = 0
  const idsOf = ({ messages, slots, ...options }, content) => {
    const all = { ...options, chatTemplate, content }
    try {
      return [...tokenizer.applyChatTemplate(messages, all).ids]
    } catch (error) {
      if (refusal(error)) return undefined
      throw error
    }
  }
  const controls = (ids) => ids.filter((id) => control.has(id)).join(' ')
  for (const shape of Object.keys(SHAPES)) {
    const harmless = conversation(shape, (i) => `text ${i}`)
    const [text, parsed] = ['text', 'parse'].map((content) => idsOf(harmless, content))
    if (text === undefined) continue
    if (text.join() !== parsed.join()) wrong.push({ shape, what: 'contents without special tokens' })
    for (const token of tokens) {
      for (const [name, attack] of Object.entries(ATTACKS)) {
        const pair = attack(token)
        const [hostile, same] = [0, 1].map((which) =>
          idsOf(
            conversation(shape, (i) => pair(i)[which]),
            'text',
          ),
        )
        if (hostile === undefined || same === undefined) continue
        compared++
        if (controls(hostile) !== controls(same)) wrong.push({ shape, token, what: name })
      }
    }
  }
  return { compared, wrong }
}

/** The texts in a template that look like control tokens. */
export function tokensIn(template) {
  const found = template.matchAll(/<[|｜][^<>|｜\s]{1,40}[|｜]>|<\/?[a-z_]{1,30}>|\[\/?[A-Z_]{2,30}\]/g)
  return [...new Set([...found].map(([token]) => token))]
}
