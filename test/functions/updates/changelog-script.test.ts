import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import {
  CHANGELOG,
  CHANGELOG_BYTES,
  CHANGELOG_FAILED,
  CHANGELOG_MISSING,
} from '../../../functions/updates/changelog-script.ts'
import { temporaryFolder } from '../../db/folder.ts'

const hasApt = ['apt-get', 'dpkg-deb'].every((program) => spawnSync(program, ['--version']).status === 0)
const withApt = test.skipIf(!hasApt)

const ENTRY = (version: string) =>
  `rig (${version}) stable; urgency=low\n\n  * Change.\n\n -- A <a@b.c>  Fri, 30 May 2025 18:44:10 +0200\n`

interface Offered {
  name: string
  version: string
  /** Files below /usr/share/doc/<name>; a text of the form `-> <target>` is a link. */
  docs: Record<string, string | Buffer>
  /** The size that the list of packages states. */
  stated?: number
  /** The changelog in the repository. */
  changelog?: string
}

/** Real apt with a repository of its own, which offers these packages and has no changelogs. */
async function aptWith(offered: readonly Offered[]) {
  const folder = await temporaryFolder()
  const path = (...names: string[]) => join(folder, ...names)
  for (const name of ['repository', 'state/lists/partial', 'cache/archives/partial', 'etc', 'tmp', 'bin'])
    await mkdir(path(name), { recursive: true })
  const records: string[] = []
  for (const { name, version, docs, stated, changelog } of offered) {
    const root = path(`root-${name}-${records.length}`)
    const doc = join(root, 'usr/share/doc', name)
    await mkdir(doc, { recursive: true })
    await mkdir(join(root, 'DEBIAN'))
    for (const [file, content] of Object.entries(docs)) {
      const target = content.toString().startsWith('-> ') ? content.toString().slice(3) : undefined
      if (target === undefined) await writeFile(join(doc, file), content)
      else await symlink(target, join(doc, file))
    }
    const control = `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: rig\n`
    await writeFile(join(root, 'DEBIAN/control'), control)
    const deb = path('repository', `${name}_${records.length}.deb`)
    execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '-b', root, deb], { stdio: 'ignore' })
    const bytes = await readFile(deb)
    const place = path('changelogs', name.charAt(0), name)
    await mkdir(place, { recursive: true })
    if (changelog !== undefined) await writeFile(join(place, `${name}_${version}.txt`), changelog)
    const file = `Filename: ./${name}_${records.length}.deb\nSize: ${stated ?? bytes.length}\nSHA256: ${sha256(bytes)}\n`
    records.push(`${control}${file}`)
  }
  const list = records.join('\n')
  await writeFile(path('repository/Packages'), list)
  await writeFile(
    path('repository/Release'),
    `Label: Rig\nChangelogs: copy:${path('changelogs')}/@CHANGEPATH@.txt\nSHA256:\n ${sha256(list)} ${list.length} Packages\n`,
  )
  await writeFile(path('etc/sources.list'), `deb [trusted=yes] file:${path('repository')} ./\n`)
  await writeFile(path('state/status'), '')
  const config = {
    'Dir::State': path('state'),
    'Dir::State::status': path('state/status'),
    'Dir::Cache': path('cache'),
    'Dir::Etc': path('etc'),
    'Dir::Etc::parts': '/dev/null',
    'APT::Sandbox::User': '',
  }
  await writeFile(
    path('apt.conf'),
    Object.entries(config).map(([key, value]) => `${key} "${value}";\n`),
  )
  const env = { ...process.env, APT_CONFIG: path('apt.conf') }
  execFileSync('apt-get', ['update'], { env, stdio: 'ignore' })
  // The script removes its folder, whose place this `mktemp` decides.
  await writeFile(path('bin/mktemp'), `#!/bin/sh\nexec /usr/bin/mktemp -d ${path('tmp')}/XXXXXX\n`, { mode: 0o755 })
  const run = async (name: string, version: string) => {
    const args = ['-c', CHANGELOG, 'ops-panel-changelog', name, version]
    const ended = await exits(args, { ...env, PATH: `${path('bin')}:${process.env.PATH}` })
    expect(await readdir(path('tmp'))).toEqual([])
    return ended
  }
  return run
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

async function exits(args: readonly string[], env: NodeJS.ProcessEnv) {
  try {
    return { code: 0, ...(await promisify(execFile)('sh', args, { env, maxBuffer: 4 * 1024 * 1024 })) }
  } catch (error) {
    const { code, stdout, stderr } = Object(error)
    return { code: Number(code), stdout: String(stdout), stderr: String(stderr) }
  }
}

withApt(
  'the changelog of exactly the offered version comes out of its package where the repository has none',
  async () => {
    const run = await aptWith([
      { name: 'rig', version: '1.0', docs: { 'changelog.gz': gzipSync(ENTRY('1.0')) } },
      {
        name: 'rig',
        version: '1:2.0~rc1-1',
        docs: { 'changelog.Debian.gz': gzipSync(ENTRY('1:2.0~rc1-1')), 'changelog.gz': gzipSync('upstream') },
      },
      { name: 'plain', version: '3', docs: { changelog: ENTRY('3') } },
    ])

    expect(await run('rig', '1:2.0~rc1-1')).toEqual({ code: 0, stdout: `package\n${ENTRY('1:2.0~rc1-1')}`, stderr: '' })
    expect(await run('rig', '1.0')).toEqual({ code: 0, stdout: `package\n${ENTRY('1.0')}`, stderr: '' })
    expect(await run('plain', '3')).toEqual({ code: 0, stdout: `package\n${ENTRY('3')}`, stderr: '' })
  },
)

withApt('the repository’s own changelog is preferred', async () => {
  const run = await aptWith([
    { name: 'rig', version: '2.0', docs: { 'changelog.gz': gzipSync('of the package') }, changelog: ENTRY('2.0') },
  ])

  expect(await run('rig', '2.0')).toEqual({ code: 0, stdout: `repository\n${ENTRY('2.0')}`, stderr: '' })
})

withApt('a version that nobody offers, a pattern and a package without a changelog have none', async () => {
  const run = await aptWith([
    { name: 'rig', version: '1.0', docs: { 'changelog.gz': gzipSync(ENTRY('1.0')) } },
    { name: 'bare', version: '1.0', docs: { README: 'nothing' } },
    { name: 'link', version: '1.0', docs: { changelog: '-> /etc/hostname' } },
  ])

  for (const [name, version] of [
    ['rig', '1.1'],
    ['r.g', '1.0'],
    ['bare', '1.0'],
    ['link', '1.0'],
    ['-oAPT::Architecture=all', '1.0'],
    ['rig', '1.0 bare'],
  ] as const)
    expect(await run(name, version), `${name} ${version}`).toEqual({ code: CHANGELOG_MISSING, stdout: '', stderr: '' })
})

withApt('a changelog is cut, a large package is not downloaded, and a failed download gives its reason', async () => {
  const huge = { 'changelog.gz': gzipSync(Buffer.alloc(8 * CHANGELOG_BYTES, 'a\n')) }
  const run = await aptWith([
    { name: 'bomb', version: '1.0', docs: huge },
    { name: 'large', version: '1.0', docs: huge, stated: 64 * 1024 * 1024 + 1 },
    { name: 'other', version: '1.0', docs: huge, stated: 1_000 },
  ])

  const { code, stdout } = await run('bomb', '1.0')
  expect([code, stdout.length]).toEqual([0, 'package\n'.length + CHANGELOG_BYTES])
  expect(await run('large', '1.0')).toEqual({
    code: CHANGELOG_FAILED,
    stdout: '',
    stderr: 'The repository has no changelog, and the package has more than 64 MiB.\n',
  })
  expect(await run('other', '1.0')).toMatchObject({
    code: CHANGELOG_FAILED,
    stdout: '',
    stderr: expect.stringMatching(/^E: /),
  })
})
