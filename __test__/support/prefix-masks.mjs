// Judges loss masks by origin by a rule that needs no origins: an answer is what the rendering up
// to it, with a generation prompt, lacks of the rendering with it, if both are prefixes of the
// whole. Answers whose renderings are no prefixes are not judged.

const user = (content) => ({ role: 'user', content })
const said = (content, more) => ({ role: 'assistant', content, ...more })
const call = (id, city) => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: { city, days: 2 } },
})
const called = (content, ...calls) => said(content, { tool_calls: calls })
const result = (id, content) => ({ role: 'tool', tool_call_id: id, name: 'get_weather', content })
const parts = (text) => [{ type: 'text', text }]
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string', description: 'A city' } }, required: [] },
    },
  },
]

/**
 * Conversations by what they have, with options.
 *
 * @type {Record<string, any[]>}
 */
export const CHATS = {
  answers: [[user('Hello?'), said('Yes, hello.'), user('And you?'), said('Fine, thanks.')]],
  'with a system message': [
    [{ role: 'system', content: 'Be brief.' }, user('Hello?'), said('Yes.'), user('Again?'), said('No.')],
  ],
  'an empty answer': [[user('Hello?'), said(''), user('Again?'), said('')]],
  'ends with a question': [[user('Hello?'), said('Yes.'), user('Again?')]],
  'ends with a prompt': [[user('Hello?'), said('Yes.'), user('Again?')], { addGenerationPrompt: true }],
  parts: [[user(parts('Hello?')), said(parts('Yes.')), user(parts('Again?')), said(parts('No.'))]],
  calls: [
    [user('Weather?'), called('', call('abcdefghi', 'Paris')), result('abcdefghi', 'sunny'), said('It is sunny.')],
    { tools },
  ],
  'calls without content': [
    [user('Weather?'), called(null, call('abcdefghi', 'Paris')), result('abcdefghi', 'sunny'), said('It is sunny.')],
    { tools },
  ],
  'calls with text': [
    [
      user('Weather?'),
      called('I look.', call('abcdefghi', 'Rome')),
      result('abcdefghi', 'rain'),
      said('Rain.'),
      user('Ok'),
      said('Bye.'),
    ],
    { tools },
  ],
  'parallel calls': [
    [
      user('Weather?'),
      called('', call('abcdefghi', 'Paris'), call('abcdefghj', 'Rome')),
      result('abcdefghi', 'sunny'),
      result('abcdefghj', 'rain'),
      called('', call('abcdefghk', 'Bern')),
      result('abcdefghk', 'snow'),
      said('Sun, rain and snow.'),
    ],
    { tools },
  ],
  reasoning: [
    [
      user('2 + 2?'),
      said('4', { reasoning_content: 'Easy.', thinking: 'Easy.' }),
      user('3 + 3?'),
      said('6', { reasoning_content: 'As before.', thinking: 'As before.' }),
    ],
  ],
  'reasoning in the text': [[user('2 + 2?'), said('<think>\nEasy.\n</think>\n\n4'), user('3 + 3?'), said('6')]],
  'reasoning and calls': [
    [
      user('Weather?'),
      said('', { reasoning_content: 'I look.', thinking: 'I look.', tool_calls: [call('abcdefghi', 'Paris')] }),
      result('abcdefghi', 'sunny'),
      said('Sunny.', { reasoning_content: 'Good.', thinking: 'Good.' }),
    ],
    { tools },
  ],
  'no reasoning': [
    [user('2 + 2?'), said('4'), user('3 + 3?'), said('6')],
    { variables: { enable_thinking: false, thinking: false } },
  ],
}

/**
 * The mask by this rule, or undefined if it does not judge the conversation. `textOf` renders
 * messages with options, and returns undefined if the template refuses them.
 *
 * @param {(messages: any[], options: any) => string | undefined} textOf
 * @param {any[]} messages
 * @param {any} options
 * @param {Uint32Array} offsets of the tokens of the whole text
 */
export function maskByPrefixes(textOf, messages, options, offsets) {
  const { addGenerationPrompt, ...others } = options
  const text = textOf(messages, options)
  const mask = new Uint8Array(offsets.length / 2)
  for (const [i, { role }] of messages.entries()) {
    if (role !== 'assistant' || i === 0) continue
    const before = textOf(messages.slice(0, i), { ...others, addGenerationPrompt: true })
    const isWhole = i === messages.length - 1 && !addGenerationPrompt
    const after = isWhole ? text : textOf(messages.slice(0, i + 1), others)
    if ([before, after].some((one) => one === undefined || !text.startsWith(one))) return undefined
    for (let token = 0; token < mask.length; token++)
      if (offsets[2 * token + 1] > before.length && offsets[2 * token] < after.length) mask[token] = 1
  }
  return mask
}

const MARKS = /\{%-?\s*(end)?generation\s*-?%\}/g

/** A template without the tags of generations, with the same trimming of white space. */
export const unmarked = (source) =>
  source.replace(MARKS, (tag, end) =>
    [tag.startsWith('{%-') ? '{%-' : '{%', end ? ' endif ' : ' if true ', tag.endsWith('-%}') ? '-%}' : '%}'].join(''),
  )
