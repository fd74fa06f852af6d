// The page that shows the tokens of a text, and the server that `tokenlane inspect --web` starts.

export { pageServer } from './src/server.mjs'
