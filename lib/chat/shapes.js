'use strict'

// The messages and the tools of chat completions: which fields are read, with their types.

const { both, listOf, object, optional, string, textOr } = require('../shape.js')

const anObject = object({})
const text = optional(string)
/** Arguments of a call: JSON as text, or its value. */
const args = optional(textOr(anObject))
const MESSAGE = { what: 'a message (an object)' }
const parts = (part) => optional(textOr(listOf(part, 'a string or an array of parts')))

// Functions and tools

const declared = object({ name: string, description: text, parameters: optional(anObject) })

/** A tool of chat completions. Those that are no functions are only counted as JSON. */
const chatTool = object(
  { type: text, function: optional(declared), custom: optional(object({ name: string, description: text })) },
  { what: 'a tool (an object)' },
)
const chatTools = optional(listOf(chatTool))

// Messages

const image = object({ url: string, detail: text })
const chatPart = textOr(
  object(
    { type: text, text, refusal: text },
    {
      what: 'a part of a message (an object)',
      variants: {
        text: { text: string },
        image_url: { image_url: textOr(image), detail: text },
        input_image: { image_url: optional(textOr(image)), file_id: text, detail: text },
      },
    },
  ),
)
const chatCall = both(
  object({ id: text, type: text, name: text, arguments: args }, { what: 'a call with a name and arguments' }),
  (call, place) => {
    if ((call.custom ?? undefined) !== undefined) object({ custom: object({ name: string, input: text }) })(call, place)
    else if ((call.name ?? undefined) === undefined || (call.function ?? undefined) !== undefined)
      object({ function: object({ name: string, arguments: args }) })(call, place)
  },
)
const chatMessage = object(
  {
    role: text,
    content: parts(chatPart),
    name: text,
    refusal: text,
    tool_call_id: text,
    tool_calls: optional(listOf(chatCall)),
    function_call: optional(object({ name: string, arguments: args })),
    audio: optional(object({ transcript: text })),
  },
  MESSAGE,
)

const chatMessages = listOf(chatMessage)

module.exports = { MESSAGE, anObject, args, chatCall, chatMessages, chatTools, declared, image, parts, text }
