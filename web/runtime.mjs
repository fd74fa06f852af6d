// Replaces lib/runtime.js.

/** Calls back in the next iteration of the event loop. A timer would wait for some milliseconds. */
export const nextTurn =
  typeof setImmediate === 'function'
    ? setImmediate
    : typeof MessageChannel === 'function'
      ? (callback) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => {
            port1.close()
            callback()
          }
          port2.postMessage(undefined)
        }
      : (callback) => void setTimeout(callback, 0)

/** Unknown: Proxies of arrays are refused. */
export const isProxy = () => false

const encoder = new TextEncoder()
export const byteLength = (text) => encoder.encode(text).length
