export { Tiktoken } from './index.js'
