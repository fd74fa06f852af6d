// A server of HTTP on loopback for specs.

import http from 'node:http'

/** A subclass answers requests in `hear`. */
export class TestServer {
  endpoint = ''
  #server = http.createServer((request, response) => this.hear(request, response))
  #sockets = new Set()

  /** @returns {void | Promise<void>} */
  hear(_request, _response) {
    throw new Error('a subclass answers')
  }

  async listen() {
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address())
    this.endpoint = `http://127.0.0.1:${port}`
  }

  /** Ends all connections too. */
  async stop() {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
