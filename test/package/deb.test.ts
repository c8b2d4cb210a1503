import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../db/folder.ts'
import { REBUILT_DEB, DEB } from './packages.ts'

const run = promisify(execFile)
const BIG = { encoding: 'buffer', maxBuffer: 2 ** 28 } as const

test('lintian reports nothing except the overridden tags', async () => {
  const { stdout } = await run('lintian', ['--allow-root', '--fail-on=none', '--display-info', DEB])

  expect(stdout.split('\n').filter((line) => !line.startsWith('I:') && line !== '')).toEqual([])
  // Overrides that match no tag.
  expect(stdout).not.toContain('mismatched-override')
  expect(stdout).not.toContain('unused-override')
})

test('a package built in another folder, time zone, language and umask is identical', async () => {
  const [one, other] = await Promise.all([DEB, REBUILT_DEB].map((deb) => readFile(deb)))
  const sha256 = (bytes: Buffer | undefined) =>
    createHash('sha256')
      .update(bytes ?? '')
      .digest('hex')

  expect(sha256(one)).toBe(sha256(other))
})

test('the package depends on the libraries of the executable, and has its version', async () => {
  const { stdout } = await run('dpkg-deb', ['-f', DEB, 'Depends', 'Version'])

  for (const library of ['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6', 'adduser']) expect(stdout).toContain(library)
  const { stdout: version } = await run(process.env.TEST_BINARY ?? '', ['--version'])
  expect(stdout).toContain(`Version: ${version}`)
})

test('every file belongs to root, and every folder has mode 755', async () => {
  const { stdout } = await run('dpkg-deb', ['-c', DEB])
  const lines = stdout.trim().split('\n')

  expect(lines.filter((line) => !/^(drwxr-xr-x|-rw-r--r--) root\/root /.test(line))).toEqual([
    expect.stringMatching(/^-rw-r----- root\/root .* \.\/etc\/ops-panel\/ops-panel\.env$/),
    expect.stringMatching(/^-rwxr-xr-x root\/root .* \.\/usr\/bin\/ops-panel$/),
    expect.stringMatching(/^-rwxr-xr-x root\/root .* \.\/usr\/sbin\/ops-panel-host$/),
  ])
})

test('the package contains the host helper, as the program prints it', async () => {
  const { stdout } = await run(process.env.TEST_BINARY ?? '', ['host', 'helper', '--print'])

  expect(String(await contents('./usr/sbin/ops-panel-host'))).toBe(stdout)
})

test('the manual page is shown without warnings, with every line of the help', async () => {
  const page = gunzipSync(await contents('./usr/share/man/man1/ops-panel.1.gz'))
  const file = join(await temporaryFolder(), 'ops-panel.1')
  await writeFile(file, page)
  const env = { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '200' }
  const { stdout, stderr } = await run('man', ['--warnings', '-l', file], { env })
  const { stdout: help } = await run(process.env.TEST_BINARY ?? '', ['--help'])
  const words = (line: string) => line.trim().replaceAll(/\s+/g, ' ')
  const shown = stdout.split('\n').map(words)

  expect(stderr).toBe('')
  expect(help.split('\n').slice(1).map(words)).toSatisfy((lines: string[]) => lines.every((it) => shown.includes(it)))
})

test('the copyright file contains the project’s licence, and names Node and the bundled packages only', async () => {
  const copyright = String(await contents('./usr/share/doc/ops-panel/copyright'))

  expect(copyright).toContain(await readFile('LICENSE', 'utf8'))
  for (const name of ['node-linux-', 'hono ', 'ssh2 ', '@libsql/linux-', 'zod '])
    expect(copyright).toContain(`\n${name}`)
  for (const name of ['vitest', 'esbuild', '@grpc/grpc-js', 'typescript']) expect(copyright).not.toContain(`\n${name} `)
  expect(copyright).toContain('Copyright Node.js contributors')
})

async function contents(path: string): Promise<Buffer> {
  const { stdout } = await run('bash', ['-c', `dpkg-deb --fsys-tarfile "$0" | tar xO "$1"`, DEB, path], BIG)
  return stdout
}
