// A Redis server of the system's package, on a port and a folder of its own.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

import { Redis } from 'ioredis'

/** Why there is none; in CI it must be there, on Linux. */
export const missing =
  spawnSync('redis-server', ['--version']).status === 0 || (process.env.CI && process.platform === 'linux')
    ? false
    : 'redis-server is not installed'

const freePort = () =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {net.AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })

/** A server with its append-only file on. */
export class TestRedis {
  #folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokenlane-redis-'))
  #password
  #process
  port = 0

  static async start(password) {
    const redis = new TestRedis()
    redis.#password = password
    redis.port = await freePort()
    await redis.start()
    return redis
  }

  get url() {
    return `redis://127.0.0.1:${this.port}`
  }

  async start() {
    const options = [
      '--port',
      this.port,
      '--dir',
      this.#folder,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ]
    if (this.#password) options.push('--requirepass', this.#password)
    this.#process = spawn('redis-server', options.map(String), { stdio: 'ignore' })
    await once(this.#process, 'spawn')
    const client = this.client()
    await client.ping()
    client.disconnect()
  }

  client() {
    return new Redis({
      port: this.port,
      host: '127.0.0.1',
      password: this.#password,
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
    }).on('error', () => {})
  }

  /** Lets it accept connections and answer nothing, until it continues. */
  silence() {
    this.#process.kill('SIGSTOP')
  }

  continue() {
    this.#process.kill('SIGCONT')
  }

  async stop(signal = 'SIGTERM') {
    const ended = new Promise((resolve) => this.#process.once('close', resolve))
    this.#process.kill(signal)
    await ended
  }

  async end() {
    await this.stop('SIGKILL')
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }
}
