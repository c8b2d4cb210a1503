/**
 * Makes dist/ops-panel_<version>_<architecture>.deb from dist/ops-panel: `deb.ts [VERSION]`. The same commit gives the
 * same bytes: all files have the time of the commit and the owner root, and dpkg-deb sorts them.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as z from 'zod'
import { debianChangelog } from './changelog.ts'
import { copyright } from './copyright.ts'
import { manualPage } from './manual-page.ts'

const ROOT = join(import.meta.dirname, '..')
const EXECUTABLE = join(ROOT, 'dist/ops-panel')
const ADDON = join(ROOT, `node_modules/@libsql/linux-${process.arch}-gnu/index.node`)
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const Package = z.object({ version: z.string() })

process.umask(0o022)
const version = process.argv[2] ?? Package.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))).version
const architecture = ARCHITECTURES[process.arch]
if (architecture === undefined) throw new Error(`there is no package for ${process.arch}`)
// Tools for reproducible builds set it: https://reproducible-builds.org/specs/source-date-epoch/
const seconds = process.env.SOURCE_DATE_EPOCH ?? run('git', ['-C', ROOT, 'log', '-1', '--format=%ct']).trim()
const started = performance.now()

const work = mkdtempSync(join(tmpdir(), 'ops-panel-deb-'))
try {
  const tree = join(work, 'tree')
  const put = (path: string, content: string | Buffer, mode = 0o644) => {
    mkdirSync(join(tree, dirname(path)), { recursive: true })
    writeFileSync(join(tree, path), content, { mode })
  }
  const doc = 'usr/share/doc/ops-panel'
  mkdirSync(join(tree, 'usr/bin'), { recursive: true })
  copyFileSync(EXECUTABLE, join(tree, 'usr/bin/ops-panel'))
  // Only root may run it, until an administrator allows others in sudoers(5).
  put('usr/sbin/ops-panel-host', run(EXECUTABLE, ['host', 'helper', '--print']), 0o755)
  put('etc/ops-panel/ops-panel.env', source('ops-panel.env'), 0o640)
  put('usr/lib/systemd/system/ops-panel.service', source('ops-panel.service'))
  put('usr/share/lintian/overrides/ops-panel', source('lintian-overrides'))
  put('usr/share/man/man1/ops-panel.1.gz', zipped(manualPage(run(EXECUTABLE, ['--help']), version, Number(seconds))))
  put(`${doc}/changelog.gz`, zipped(changelog()))
  put(`${doc}/copyright`, copyright(ROOT, readRoot('dist/ops-panel.packages').trim().split('\n')))

  const installed = installedKibibytes(tree)
  const checksums = md5sums(tree)
  put('DEBIAN/control', control({ version, architecture, installed, depends: dependencies(work) }))
  put('DEBIAN/conffiles', source('conffiles'))
  put('DEBIAN/md5sums', checksums)
  for (const script of ['postinst', 'prerm', 'postrm']) put(`DEBIAN/${script}`, source(script), 0o755)

  // dpkg-deb itself changes only the times that are later.
  run('find', [tree, '-exec', 'touch', '-h', '-d', `@${seconds}`, '{}', '+'])
  const target = join(ROOT, 'dist', `ops-panel_${version}_${architecture}.deb`)
  const part = `${target}.${process.pid}`
  // The package is a seventh larger than at xz's default level, and takes an eighth of the time.
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', tree, part], { SOURCE_DATE_EPOCH: seconds })
  renameSync(part, target)
  const megabytes = (statSync(target).size / 1e6).toFixed(1)
  console.log(
    `${target.slice(ROOT.length + 1)}  ${megabytes} MB in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}

function changelog(): string {
  const maintainer = /^Maintainer: (.*)$/m.exec(source('control'))?.[1] ?? ''
  return debianChangelog(readRoot('CHANGELOG.md'), { version, seconds: Number(seconds), maintainer })
}

function source(name: string): string {
  return readFileSync(join(import.meta.dirname, 'debian', name), 'utf8')
}

function readRoot(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8')
}

function zipped(text: string): Buffer {
  return gzipSync(text, { level: 9 })
}

function run(program: string, args: readonly string[], env: Record<string, string> = {}, cwd = ROOT): string {
  const environment = { ...process.env, ...env, LC_ALL: 'C.UTF-8' }
  return execFileSync(program, args, { cwd, encoding: 'utf8', env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Returns the libraries that the executable and its addon are linked against, with the oldest sufficient versions. */
function dependencies(folder: string): string {
  // dpkg-shlibdeps expects to run in a source package.
  mkdirSync(join(folder, 'debian'))
  writeFileSync(join(folder, 'debian/control'), 'Source: ops-panel\n\nPackage: ops-panel\nArchitecture: any\n')
  const told = run('dpkg-shlibdeps', ['-O', `-e${EXECUTABLE}`, `-e${ADDON}`], {}, folder)
  return told.trim().replace(/^shlibs:Depends=/, '')
}

function control(of: { version: string; architecture: string; installed: number; depends: string }): string {
  const lines = [
    `Version: ${of.version}`,
    `Architecture: ${of.architecture}`,
    `Installed-Size: ${of.installed}`,
    `Depends: ${of.depends}, adduser`,
  ]
  return source('control').replace(/^Section:/m, `${lines.join('\n')}\nSection:`)
}

/** Counts as dpkg-gencontrol does: a file by its size in whole kibibytes, everything else as one. */
function installedKibibytes(tree: string): number {
  return paths(tree, '-mindepth', '1')
    .map((path) => statSync(join(tree, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? Math.ceil(stat.size / 1024) : 1), 0)
}

function md5sums(tree: string): string {
  return paths(tree, '-type', 'f')
    .filter((path) => !path.startsWith('etc/'))
    .map(
      (path) =>
        `${createHash('md5')
          .update(readFileSync(join(tree, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('')
}

function paths(tree: string, ...which: string[]): string[] {
  return run('find', ['.', ...which, '-printf', '%P\\n'], {}, tree)
    .trim()
    .split('\n')
    .sort()
}
