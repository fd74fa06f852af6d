/**
 * In the script of a LimitedProcess: answers each call with what the function returns.
 *
 * @param {(message: any) => any} call
 */
export function answer(call) {
  process.on('message', async (message) => {
    const outcome = await call(message)
    globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    process.send?.({ outcome, used: (user + system) / 1e6 })
  })
}
