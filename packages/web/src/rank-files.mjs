// Replaces lib/internal/dropins/rank-files.js: rank files are contained in the program.

import { rankText } from 'tokenlane/internal/dropins/rank-text.js'
import { Tokenizer, encodingDefinition, fileBytes } from '../dist/core.mjs'

export { Tokenizer, encodingDefinition }

export const openFile = (file, options) => Tokenizer.fromBufferSync(fileBytes(file), options)
export const readFile = (file) => rankText(fileBytes(file))
