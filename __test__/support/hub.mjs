// A hub on loopback with the routes of huggingface.co: resolve, which redirects to a CDN or sends
// the file itself, and the listing of a folder. It sends the headers of the real hub, and can send
// errors and interrupt responses.

import { createHash } from 'node:crypto'
import http from 'node:http'

/**
 * Why a test that needs a server is skipped, or undefined. `npm run maintain windows` sets the
 * variable.
 */
export const noServer = process.env.TOKENLANE_TEST_NO_SERVER

export const COMMIT = 'c0ffee'.padEnd(40, '0')

/** The hash of a file in Git, and in Git LFS. */
const gitHash = (bytes) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/**
 * `repos` is { 'org/name' or 'datasets/org/name': { files: { path: Buffer }, lfs: [path], etags,
 * commit, older: { commit: files }, page, tags, token, gated, silent } }. `trouble` is called for
 * each request with { kind: 'resolve' | 'cdn' | 'tree' |
 * 'info', path, isProbe, count }, and can return one of
 * - { status, headers }: send only these
 * - { hangs }: never respond
 * - { drops }: close the connection
 * - { cut }: send this number of bytes and close the connection (with `holds`: stay silent)
 * - { sends }: send other bytes
 * - { says }: announce another length
 * - { whole }: send the whole file even if a range is requested
 * - { answers(request, response) }: call this function
 */
export async function startHub(repos, trouble = () => undefined) {
  const requests = []
  const sent = []
  const server = http.createServer((request, response) => answer(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cdn = http.createServer((request, response) => sendFile(request, response))
  await new Promise((resolve) => cdn.listen(0, '127.0.0.1', resolve))
  const at = (one) => `http://127.0.0.1:${one.address().port}`

  function answer(request, response) {
    const url = new URL(request.url, at(server))
    const resolve = url.pathname.match(/^\/(.+)\/resolve\/([^/]+)\/(.+)$/)
    const tree = url.pathname.match(/^\/api\/(?:models\/)?(.+)\/tree\/([^/]+)(?:\/(.*))?$/)
    const info = url.pathname.match(/^\/api\/(?:models\/)?(.+)\/revision\/([^/]+)$/)
    const [, name, revision, path] = (resolve ?? tree ?? info ?? []).map((part) => decodeURIComponent(part ?? ''))
    const repo = repos[name]
    const deny = (status, code, message) =>
      response
        .writeHead(status, { ...(code && { 'x-error-code': code }), 'x-error-message': message ?? code ?? '' })
        .end()
    const kind = resolve ? 'resolve' : info ? 'info' : 'tree'
    if (note(request, response, kind, path)) return
    const known = request.headers.authorization === `Bearer ${repo?.token}`
    if (request.headers.authorization === 'Bearer wrong')
      return deny(401, undefined, 'Invalid credentials in Authorization header')
    if (repo === undefined || (repo.token && !repo.gated && !known))
      return deny(known ? 404 : 401, 'RepoNotFound', 'Repository not found')
    if (repo.gated && !known) return deny(403, 'GatedRepo', `Access to model ${name} is restricted`)
    const commit = repo.commit ?? COMMIT
    if (!['main', commit, ...(repo.tags ?? []), ...Object.keys(repo.older ?? {})].includes(revision))
      return deny(404, 'RevisionNotFound', `Invalid rev id: ${revision}`)
    if (info)
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ _id: '0', id: name, sha: commit }))
    const files = repo.older?.[revision] ?? repo.files
    if (!resolve) return list({ ...repo, files }, path, url, response, deny)
    if (!repo.silent) response.setHeader('x-repo-commit', commit)
    const bytes = files[path]
    if (bytes === undefined) return deny(404, 'EntryNotFound')
    const isLfs = repo.lfs?.includes(path)
    const place = `/${encodeURIComponent(name)}/${path}`
    response.setHeader('x-linked-size', bytes.length)
    response.setHeader('x-linked-etag', `"${repo.etags?.[path] ?? (isLfs ? sha256(bytes) : gitHash(bytes))}"`)
    if (isLfs) return response.writeHead(302, { location: `${at(cdn)}${place}` }).end()
    sendFile(request, response, bytes)
  }

  /** Lists the files below a folder, `page` of a repository at a time if it has this field. */
  function list(repo, folder, url, response, deny) {
    const paths = Object.keys(repo.files).filter((path) => folder === '' || path.startsWith(`${folder}/`))
    if (paths.length === 0) return deny(404, 'EntryNotFound')
    const from = Number(url.searchParams.get('cursor') ?? 0)
    const to = from + (repo.page ?? paths.length)
    const shown = paths.slice(from, to).map((path) => ({ type: 'file', path, size: 1 }))
    const folders = from === 0 && repo.page ? [{ type: 'directory', path: 'a folder', size: 0 }] : []
    url.searchParams.set('cursor', String(to))
    if (to < paths.length) response.setHeader('link', `<${url}>; rel="next"`)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([...folders, ...shown]))
  }

  function note(request, response, kind, path) {
    const isProbe = request.headers.range === 'bytes=0-0'
    const count = requests.filter((one) => one.path === path && one.kind === kind && one.isProbe === isProbe).length + 1
    const entry = { kind, path, isProbe, count, authorization: request.headers.authorization }
    requests.push(entry)
    response.path = path
    response.trouble = trouble(entry)
    const { status, headers, hangs, drops, answers } = response.trouble ?? {}
    answers?.(request, response)
    if (drops) request.socket.destroy()
    if (status !== undefined) response.writeHead(status, headers).end('trouble')
    return status !== undefined || hangs || drops || answers !== undefined
  }

  /** Sends the bytes, or the requested range of them. */
  function sendFile(request, response, bytes) {
    if (bytes === undefined) {
      const [, name, path] = (request.url.match(/^\/([^/]+)\/(.+)$/) ?? []).map(decodeURIComponent)
      bytes = repos[name]?.files[path]
      if (bytes === undefined) return response.writeHead(404).end()
      response.setHeader('etag', '"the CDN has its own"')
      if (note(request, response, 'cdn', path)) return
    }
    const { cut, holds, whole, says, sends = bytes } = response.trouble ?? {}
    const range = whole || sends.length === 0 ? undefined : request.headers.range?.match(/bytes=(\d+)-(\d*)/)
    const start = Number(range?.[1] ?? 0)
    if (range && start > 0 && start >= sends.length) return response.writeHead(416).end()
    const part = sends.subarray(start, range?.[2] ? Number(range[2]) + 1 : undefined)
    const headers = { 'content-length': says ?? part.length, 'content-type': 'text/plain; charset=utf-8' }
    if (request.headers.range !== 'bytes=0-0') sent.push({ path: response.path, start })
    if (range) headers['content-range'] = `bytes ${start}-${start + part.length - 1}/${sends.length}`
    if (says === null) delete headers['content-length']
    response.writeHead(range ? 206 : 200, headers)
    if (cut === undefined) return response.end(part)
    response.write(part.subarray(0, cut), () => holds || request.socket.destroySoon())
  }

  return {
    url: at(server),
    requests,
    /** The start offsets of all responses with a file. */
    sent: (path) => sent.filter((one) => one.path === path).map(({ start }) => start),
    close() {
      for (const one of [server, cdn]) {
        one.closeAllConnections()
        one.close()
      }
    },
  }
}
