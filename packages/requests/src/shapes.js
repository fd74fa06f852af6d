'use strict'

// What is read of bodies and of messages of clients: the fields of each API, with their types.

const {
  chatShapes,
  errors: { wrongType },
  realm: { isBytes, isUrl },
  shape,
} = require('tokenlane/internal/requests.js')

const { boolean, both, fieldOf, isObject, json, later, listOf, object, optional, string, textOr } = shape
const { MESSAGE, anObject, args, chatCall, chatMessages, chatTools, declared, image, parts, text } = chatShapes

const CONTENT = 'a text or an array'
const nameOf = object({ name: string })

/** A text, or parts. A message without a content is one of another client. */
const contentOf = (part, client) => (value, place) => {
  if (value === undefined) throw wrongType(place, `the content of a message of ${client} (${CONTENT})`, value)
  optional(textOr(listOf(part, `a string or an array of parts`)))(value, place)
}

// Functions and tools

const responsesTool = object(
  { type: text, function: optional(declared), custom: optional(object({ name: string, description: text })) },
  {
    what: 'a tool (an object)',
    variants: { function: { name: text, description: text, parameters: optional(anObject) } },
  },
)
const anthropicTool = both(
  object({ type: text, description: text, input_schema: optional(anObject) }, { what: 'a tool (an object)' }),
  (tool, place) => {
    if ((tool.input_schema ?? undefined) !== undefined) nameOf(tool, place)
  },
)
const choice = optional(textOr(object({ function: optional(nameOf), name: text })))

// Chat completions

const FORMAT = { type: text, name: text, description: text, schema: json }

/** What servers read that render a template, and Claude's `thinking`. */
const SERVER = {
  documents: optional(listOf(anObject)),
  chat_template: text,
  chat_template_kwargs: optional(anObject),
  add_generation_prompt: optional(boolean),
  continue_final_message: optional(boolean),
  reasoning_effort: text,
  thinking: optional(object({ type: text })),
}

const chat = {
  model: text,
  messages: chatMessages,
  tools: chatTools,
  functions: optional(listOf(declared)),
  tool_choice: choice,
  parallel_tool_calls: optional(boolean),
  function_call: choice,
  response_format: optional(object({ ...FORMAT, json_schema: optional(object(FORMAT)) })),
  ...SERVER,
}

// Responses, and items of @openai/agents

const responsesPart = textOr(
  object(
    { type: text, text, refusal: text },
    {
      what: 'a part of an item (an object)',
      variants: {
        refusal: { refusal: string },
        input_image: {
          image_url: optional(textOr(image)),
          file_id: text,
          image: optional(textOr(object({ id: string }))),
        },
        image: { image_url: optional(textOr(image)), file_id: text, image: optional(textOr(object({ id: string }))) },
      },
    },
  ),
)
const output = optional(
  textOr((value, place) => (isObject(value) ? responsesPart : listOf(responsesPart, CONTENT))(value, place)),
)
const CALL = { name: string, arguments: args, input: text, call_id: text, callId: text }
const RESULT = { output, call_id: text, callId: text }
const item = object(
  { type: text, role: text, name: text, call_id: text, content: parts(responsesPart), detail: text },
  {
    what: 'an item (an object)',
    variants: {
      message: { role: string },
      function_call: CALL,
      custom_tool_call: CALL,
      function_call_output: RESULT,
      function_call_result: RESULT,
      custom_tool_call_output: RESULT,
      reasoning: { summary: parts(responsesPart) },
    },
  },
)
const responses = {
  model: text,
  input: optional(textOr(listOf(item, 'a text or an array of items'))),
  instructions: optional(textOr(listOf(item, 'a text or an array of items'))),
  tools: optional(listOf(responsesTool)),
  tool_choice: choice,
  parallel_tool_calls: optional(boolean),
  text: optional(object({ format: optional(object(FORMAT)) })),
  previous_response_id: json,
  conversation: json,
  prompt: json,
  ...SERVER,
}

// Anthropic's messages

const blocks = later(() => parts(block))
const SOURCE = { type: text, url: text, data: text, media_type: text, file_id: text }
const source = object(SOURCE, {
  variants: {
    base64: { data: string, media_type: string },
    url: { url: string },
    file: { file_id: string },
    text: { data: string },
    content: { content: blocks },
  },
})
const imageSource = both(source, ({ type, url, file_id: file }, place) => {
  if (type !== 'base64' && (url ?? file ?? undefined) === undefined)
    throw wrongType(`${place}.type`, "'base64', 'url' or 'file'", type)
})
const block = object(
  { type: text, text },
  {
    what: 'a block (an object)',
    variants: {
      text: { text: string },
      image: { source: imageSource },
      document: { source, title: text, context: text },
      search_result: { source: text, title: text, content: blocks },
      tool_use: { id: text, name: string },
      tool_result: { tool_use_id: text, content: blocks },
      thinking: { thinking: string },
    },
  },
)
const anthropicMessage = object({ role: string }, MESSAGE)
const anthropic = {
  model: text,
  system: blocks,
  messages: listOf(
    both(anthropicMessage, (message, place) => {
      // Of the system, it may only have settings, such as the format of the answer.
      const content = message.role === 'system' ? blocks : contentOf(block, 'Anthropic')
      object({ content })(message, place)
    }),
    'an array of messages',
  ),
  tools: optional(listOf(anthropicTool)),
  tool_choice: choice,
  output_config: optional(object({ format: optional(object(FORMAT)) })),
  output_format: optional(object(FORMAT)),
  ...SERVER,
}

// Gemini's generateContent

/** The name of a field as clients in Python write it. */
const snakeOf = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const inBothNames = (fields) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, one]) => [
      [name, one],
      [snakeOf(name), one],
    ]),
  )
const orListOf = (one, what) => (value, place) => (Array.isArray(value) ? listOf(one, what) : one)(value, place)

const PART = inBothNames({
  text,
  thoughtSignature: text,
  inlineData: optional(object(inBothNames({ mimeType: text, data: text }))),
  fileData: optional(object(inBothNames({ mimeType: text, fileUri: text }))),
  functionCall: optional(object({ name: text })),
  functionResponse: optional(object({ name: text, parts: optional(listOf(anObject)) })),
})
const geminiPart = textOr(object(PART, { what: 'a part (a text or an object)' }))
const geminiParts = optional(orListOf(geminiPart))
/** A content, or a part without one around it, which clients send as one of the user. */
const geminiContents = optional(
  orListOf(textOr(object({ ...PART, role: text, parts: geminiParts }, { what: 'a text, a content or a part' }))),
)
const geminiFunctions = optional(listOf(object({ name: text, description: text })))
const GEMINI = inBothNames({
  systemInstruction: geminiContents,
  tools: optional(orListOf(object(inBothNames({ functionDeclarations: geminiFunctions })))),
  toolConfig: json,
  cachedContent: json,
})
const FORMAT_OF_GEMINI = inBothNames({ responseSchema: json, responseJsonSchema: json })
const gemini = {
  model: text,
  contents: geminiContents,
  ...GEMINI,
  ...inBothNames({ generationConfig: optional(object(FORMAT_OF_GEMINI)) }),
  // @google/genai has all but the contents in `config`.
  config: optional(object({ ...GEMINI, ...FORMAT_OF_GEMINI })),
}

// Embeddings and completions

const id = (value, place) => {
  if (!Number.isInteger(value) || value < 0) throw wrongType(place, 'a token id', value)
}
const ids = listOf(id, 'a text or ids')
const texts = textOr(
  listOf(
    textOr((value, place) => (typeof value === 'number' ? id : ids)(value, place)),
    'a text, ids, or an array of these',
  ),
)

// Clients

/** Bytes, base64 or a URL. */
const data = (value, place) => {
  if (typeof value !== 'string' && !isUrl(value) && !isBytes(value))
    throw wrongType(place, 'bytes, base64 or a URL', value)
}

/** The parts of a message of the AI SDK, ModelMessage or UIMessage. */
const byProvider = (value, place) => {
  if (!isObject(value) || Object.keys(value).length === 0)
    throw wrongType(place, 'bytes, base64, a URL, or ids by their providers', value)
  for (const name of Object.keys(value)) string(value[name], `${place}.${name}`)
}
/** Since ai 7, an object may say what a file is given by; an object of others has ids. */
const fileOfAi = textOr((value, place) => {
  if (isUrl(value) || isBytes(value)) return
  if (!isObject(value)) throw wrongType(place, 'bytes, base64 or a URL', value)
  const type = fieldOf(value, 'type', place)
  const field = { url: 'url', data: 'data', text: 'text', reference: 'reference' }
  if (type === undefined) return byProvider(value, place)
  if (typeof type !== 'string' || !Object.hasOwn(field, type))
    throw wrongType(`${place}.type`, "'url', 'data', 'text' or 'reference'", type)
  const shape = { url: data, data, text: string, reference: textOr(byProvider) }[type]
  object({ [field[type]]: shape })(value, place)
})
const aiOutput = object(
  { type: text },
  { variants: { 'execution-denied': { reason: text }, text: { value: text }, 'error-text': { value: text } } },
)
const FILE = {
  mediaType: text,
  mimeType: text,
  data: optional(fileOfAi),
  url: optional(fileOfAi),
  image: optional(fileOfAi),
  fileId: optional(fileOfAi),
  providerReference: optional(fileOfAi),
}
const FILE_FIELDS = ['data', 'url', 'image', 'fileId', 'providerReference']
/** A file is given by one of these. */
const hasFile = (part, place) => {
  if (FILE_FIELDS.some((name) => (part[name] ?? undefined) !== undefined)) return
  const empty = FILE_FIELDS.find((name) => Object.hasOwn(part, name))
  throw wrongType(empty === undefined ? place : `${place}.${empty}`, 'a file: bytes, base64 or a URL', part[empty])
}
const TOOL = {
  state: text,
  toolCallId: text,
  toolName: text,
  errorText: text,
  approval: optional(object({ approved: optional(boolean), reason: text })),
  providerExecuted: optional(boolean),
}
const aiPart = both(
  object(
    { type: string, text, reasoning: text },
    {
      what: 'a part of the AI SDK (an object)',
      variants: {
        text: { text: string },
        file: FILE,
        image: FILE,
        'tool-call': { toolCallId: text, toolName: string },
        'tool-result': { toolCallId: text, toolName: text, output: optional(aiOutput) },
        'dynamic-tool': { ...TOOL, toolName: string },
        'tool-invocation': { toolInvocation: object({ ...TOOL, toolName: string }) },
      },
    },
  ),
  (part, place) => {
    if (/^tool-(?!call$|result$|invocation$)/.test(part.type)) object(TOOL)(part, place)
    if (part.type === 'file' || part.type === 'image') hasFile(part, place)
  },
)
const aiMessage = both(
  object(
    {
      role: string,
      parts: optional(listOf(aiPart, 'an array of parts')),
      toolInvocations: optional(listOf(object({ ...TOOL, toolName: string }))),
      experimental_attachments: optional(listOf(object({ contentType: text, url: fileOfAi }))),
    },
    MESSAGE,
  ),
  (message, place) => {
    const isOfUi = ['parts', 'toolInvocations', 'experimental_attachments'].some((name) => message[name] !== undefined)
    const isOther = message.tool_calls !== undefined || (message.role === 'tool' && typeof message.content === 'string')
    object({
      content: isOfUi
        ? message.parts === undefined
          ? parts(aiPart)
          : json
        : isOther
          ? json
          : contentOf(aiPart, 'the AI SDK'),
    })(message, place)
  },
)

/** An image is given by an id, or by bytes or a URL, also in a `source`. */
const hasImage = (block, place) => {
  const { type, source_type: kind, id: own, url, data: bytes, fileId, source: from } = block
  if (type !== 'image') return
  const inSource = from?.file_id ?? from?.url ?? from?.data
  if ((fileId ?? url ?? bytes ?? inSource ?? (kind === 'id' ? own : undefined) ?? undefined) !== undefined) return
  throw wrongType(
    (from ?? undefined) === undefined ? place : `${place}.source`,
    'an image with bytes, base64 or a URL',
    from,
  )
}
const langChainObject = both(
  object(
    { type: text, text },
    {
      what: 'a block (an object)',
      variants: {
        refusal: { refusal: text },
        inlineData: { inlineData: optional(object({ mimeType: text, data })) },
        image: {
          url: optional(data),
          data: optional(data),
          mimeType: text,
          mime_type: text,
          fileId: text,
          source_type: text,
          id: text,
          source: optional(
            object({ type: text, url: optional(data), data: optional(data), media_type: text, file_id: text }),
          ),
        },
        thinking: { thinking: text },
        reasoning: { reasoning: text },
        reasoning_content: { reasoningText: optional(object({ text })) },
      },
    },
  ),
  hasImage,
)
const langChainBlock = textOr(langChainObject)
const langChainCall = (call, place) => {
  anObject(call, place)
  if ((call.function ?? undefined) === undefined) object({ id: text, name: string, args: args })(call, place)
  else chatCall(call, place)
}
const langChain = {
  role: text,
  content: json,
  name: text,
  tool_call_id: text,
  tool_calls: optional(listOf(langChainCall)),
  additional_kwargs: optional(
    object({
      tool_calls: optional(listOf(chatCall)),
      reasoning_content: text,
      function_call: optional(object({ name: string, arguments: args })),
    }),
  ),
}

const llamaPart = object(
  { type: text, text },
  { what: 'a part of a message (an object)', variants: { image: { data, mimeType: text } } },
)
const llamaCall = object({ id: text, name: string }, { what: 'a call with a name and input' })
const llamaMessage = both(
  object(
    {
      role: string,
      options: optional(
        object({
          toolCall: optional((value, place) => (Array.isArray(value) ? listOf(llamaCall) : llamaCall)(value, place)),
          toolResult: optional(object({ id: text })),
        }),
      ),
    },
    MESSAGE,
  ),
  (message, place) => {
    const { toolCall, toolResult } = message.options ?? {}
    const hasCall = (toolCall ?? toolResult ?? undefined) !== undefined
    object({ content: hasCall ? parts(llamaPart) : contentOf(llamaPart, 'LlamaIndex') })(message, place)
  },
)
const llamaTool = object(
  { metadata: object({ name: string, description: text, parameters: optional(anObject) }) },
  { what: 'a tool (an object)' },
)

module.exports = {
  aiMessages: listOf(aiMessage, 'an array of messages'),
  anthropic,
  anthropicTools: listOf(anthropicTool, 'an array of tools'),
  chat,
  chatMessages,
  chatTools,
  completions: { model: text, prompt: texts },
  embeddings: { model: text, input: texts },
  gemini,
  langChain,
  langChainContent: (value, place) => contentOf(langChainBlock, 'LangChain')(value, place),
  langChainParts: parts(langChainBlock),
  llamaMessages: listOf(llamaMessage, 'an array of messages'),
  llamaTools: listOf(llamaTool, 'an array of tools'),
  responses,
  responsesTools: listOf(responsesTool, 'an array of tools'),
  snakeOf,
}
