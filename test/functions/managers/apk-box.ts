import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { programs } from '../programs.ts'

/** The shells that the scripts meet: this machine's own and, where it is installed, BusyBox with its programs, as in Alpine. */
export const SHELLS: [string, ...string[]] = ['sh', ...(programsOfBusybox().length > 0 ? ['busybox'] : [])]

function programsOfBusybox(): string[] {
  try {
    return execFileSync('busybox', ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  } catch {
    return []
  }
}

export interface Entry {
  version: string
  needs?: string
  flags?: string
  source?: string
}

/** Records as apk keeps them, of its installed packages and of what a repository offers. */
function records(entries: Record<string, Entry>): string {
  return Object.entries(entries)
    .map(([name, { version, needs, flags, source = name }]) =>
      [
        `P:${name}`,
        `V:${version}`,
        'A:x86_64',
        'S:500',
        'I:4096',
        `o:${source}`,
        ...(needs === undefined ? [] : [`D:${needs}`]),
        ...(flags === undefined ? [] : [`f:${flags}`]),
        // The files of a package follow, with other fields.
        'F:usr/bin',
        'R:program',
        '',
      ].join('\n'),
    )
    .join('\n')
}

const REPOSITORIES = `# comment
https://user:secret@repo.example/alpine/v3.20/main
https://repo.example/alpine/v3.20/community/
@edge https://repo.example/alpine/edge/main
`

/** A system with the stand-in for apk, and `ask`, which runs functions of a manager in it. */
export async function apkBox({ shell = 'sh', major = '2' }: { shell?: string; major?: string } = {}) {
  const root = await temporaryFolder()
  for (const folder of ['lib/apk/db', 'etc/apk', 'repo', 'state', 'var/cache/apk', 'tmp'])
    await mkdir(join(root, folder), { recursive: true })
  const write = (path: string, text: string) => writeFile(join(root, path), text)
  await write('etc/apk/repositories', REPOSITORIES)
  const standIn = fileURLToPath(new URL('apk-stand-in.sh', import.meta.url))
  const { folder, env } = await programs({ apk: `exec sh ${standIn} "$@"` })
  const applets = join(root, 'bin')
  await mkdir(applets)
  if (shell === 'busybox') {
    const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim()
    for (const name of programsOfBusybox()) await symlink(busybox, join(applets, name))
  }
  const environment = {
    ...env,
    PATH: `${folder}:${applets}:${process.env.PATH}`,
    APK_ROOT: root,
    APK_MAJOR: major,
    TMPDIR: join(root, 'tmp'),
  }
  const script = (call: string) => `sudo= manager=apk\n${managerText('apk')}\napk_root=${root}\n${call}`
  const start = (call: string) =>
    spawn(shell === 'busybox' ? join(applets, 'sh') : 'sh', ['-c', script(call)], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const ask = async (call: string) => {
    const child = start(call)
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (data: string) => (text += data))
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
    return {
      status,
      text,
      lines: text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.replaceAll('\t', '|')),
    }
  }
  const read = (path: string) => readFile(join(root, path), 'utf8').catch(() => '')
  return {
    root,
    write,
    read,
    ask,
    start,
    installed: (entries: Record<string, Entry>) => write('lib/apk/db/installed', records(entries)),
    world: (text: string) => write('etc/apk/world', `${text.split(' ').join('\n')}\n`),
    /** Publishes these packages, and refreshes the lists of the system. */
    async offered(entries: Record<string, Entry>, { refreshed = true } = {}) {
      await write('repo/APKINDEX', records(entries))
      if (refreshed) await ask('apk update')
    },
    /** The changes that apk has made, in the words of the stand-in. */
    changes: async () =>
      (await read('state/log')).split('\n').filter((line) => /^(Upgrading|Installing|Purging|Replacing) /.test(line)),
    /** The hash of the plan of a selection. */
    async hashOf(selection: string) {
      const { lines } = await ask(`apk_changes ${selection} | plan_lines`)
      return createHash('sha256')
        .update(lines.map((line) => `${line}\n`).join(''))
        .digest('hex')
    },
  }
}

/** The packages of a system, and newer ones that a repository offers. */
export const INSTALLED: Record<string, Entry> = {
  musl: { version: '1.2.5-r0' },
  app: { version: '1.0-r0', needs: 'musl libold' },
  libold: { version: '1-r0' },
  tool: { version: '2.0-r1', needs: 'musl', source: 'tools' },
  pinned: { version: '1-r0' },
}
export const OFFERED: Record<string, Entry> = {
  musl: { version: '1.2.5-r1' },
  app: { version: '2.0-r0', needs: 'musl libnew' },
  libnew: { version: '1-r0' },
  tool: { version: '2.0-r2', needs: 'musl', source: 'tools' },
  pinned: { version: '2-r0' },
}

/** A system of which every package has an upgrade: one needs a removal, and one is held. */
export async function upgradableBox(options: Parameters<typeof apkBox>[0] = {}) {
  const made = await apkBox(options)
  await made.installed(INSTALLED)
  await made.world('app tool@edge pinned=1-r0')
  await made.offered(OFFERED)
  return made
}
