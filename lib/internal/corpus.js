'use strict'

// What @tokenlane/corpus uses of the calls, the loaders and the addon. Not for users: it changes
// without notice, and both packages have the same version.

const { byteLevelAlphabet } = require('../byte-level.js')
const { GENERATION, chatOfParts } = require('../chat/chat.js')
const { SPECIAL_TOKEN_MODES } = require('../choices.js')
const LEARNED = require('../chat/learned.js')
const { error, typeError, wrongType, wrongValue } = require('../errors.js')
const { chatOf, componentsOf, encodeChat, encodeDocuments, maxId } = require('../internals.js')
const { later } = require('../later.js')
const { memory } = require('../memory.js')
const native = require('../native.js')
const { importOptional, optional, projectPlaces, resolveOptional, setProjectPlaces } = require('../optional.js')
const { checkKnown, checkNames, checkObject, signalOption } = require('../options.js')
const { encodingPath } = require('../package-root.js')
const { enqueue } = require('../queue.js')
const { isAbsence, openRegular, openRegularSync, readRegular, tooLarge } = require('../regular-file.js')
const { watch } = require('../signals.js')
const { run } = require('../steps.js')
const { BatchTexts, copyTexts } = require('../texts.js')
const { Tokenizer, encodings } = require('../tokenizer.js')
const { endsSoon, pause, signalOfRequest, untilAborted, untilEnded, untilLeft, within } = require('../waits.js')
const { version: VERSION } = require('../../package.json')

const modules = later({
  components: () => require('../model/components.js'),
  ggufFile: () => require('../model/gguf/file.js'),
  hubErrors: () => require('../hub/errors.js'),
  hubOptions: () => require('../hub/options.js'),
  hubSettings: () => require('../hub/settings.js'),
  hubTransport: () => require('../hub/transport.js'),
  jinja: () => require('@tokenlane/jinja/internal'),
  modelFolder: () => require('../model/folder.js'),
  openai: () => require('../chat/openai.js'),
  pretrained: () => require('../hub/pretrained.js'),
})

module.exports = {
  BatchTexts,
  GENERATION,
  LEARNED,
  SPECIAL_TOKEN_MODES,
  Tokenizer,
  VERSION,
  byteLevelAlphabet,
  chatOf,
  chatOfParts,
  checkKnown,
  checkNames,
  checkObject,
  componentsOf,
  copyTexts,
  encodeChat,
  encodeDocuments,
  encodingPath,
  encodings,
  importOptional,
  endsSoon,
  enqueue,
  error,
  isAbsence,
  maxId,
  memory,
  modules,
  native,
  openRegular,
  openRegularSync,
  optional,
  pause,
  projectPlaces,
  readRegular,
  resolveOptional,
  run,
  setProjectPlaces,
  signalOfRequest,
  signalOption,
  tooLarge,
  typeError,
  untilAborted,
  untilEnded,
  untilLeft,
  watch,
  within,
  wrongType,
  wrongValue,
}
