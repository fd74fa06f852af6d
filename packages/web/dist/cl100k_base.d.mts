export { base64 } from '../packed.mjs'
