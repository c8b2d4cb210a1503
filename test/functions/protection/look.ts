import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HEALTH } from '../../../functions/protection/health-script.ts'
import { temporaryFolder } from '../../db/folder.ts'

/** Debian's package busybox; without it, the tests of that shell are left out. */
const BUSYBOX = spawnSync('which', ['busybox']).stdout.toString().trim()
/** The shells of this machine in which HEALTH is tried. */
export const shells = (BUSYBOX === '' ? ['sh', 'bash'] : ['sh', 'bash', 'busybox']).filter(
  (name) => name === 'busybox' || spawnSync(name, ['-c', 'true']).status === 0,
)

/** A container's files and programs: `files` by their paths, `programs` as scripts; `sockets` by process id. */
export interface Inside {
  files?: Record<string, string>
  programs?: Record<string, string>
  sockets?: Record<string, { comm: string; inodes: number[] }>
}

export async function inside({ files = {}, programs = {}, sockets = {} }: Inside) {
  const folder = await temporaryFolder()
  const root = join(folder, 'root')
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  await mkdir(join(root, 'proc'), { recursive: true })
  for (const [path, text] of Object.entries(files)) await write(path, text)
  for (const [pid, { comm, inodes }] of Object.entries(sockets)) {
    await write(`proc/${pid}/comm`, comm)
    await mkdir(join(root, `proc/${pid}/fd`))
    for (const [fd, inode] of inodes.entries()) await symlink(`socket:[${inode}]`, join(root, `proc/${pid}/fd/${fd}`))
  }
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const none = { docker: 'exit 1', podman: 'exit 1', systemctl: 'exit 1' }
  for (const [name, text] of Object.entries({ ...none, ...programs })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return { folder, root, bin }
}

export interface Look {
  code: number | null
  text: string
  lines: string[]
  ms: number
}

/** Runs HEALTH with the folders of such a container in place of this machine's. */
export async function look(container: Inside, words: string[] = [], shell = 'sh'): Promise<Look> {
  const { root, bin, folder } = await inside(container)
  // The folders of a container, in place of those of this machine.
  const text = HEALTH.replaceAll(/(?<=[ "<])\/(?=(proc|run|var|etc|lib|usr\/lib)\/)/g, `${root}/`)
  let path = `${bin}:${process.env.PATH}`
  if (shell === 'busybox') {
    const applets = join(folder, 'applets')
    await mkdir(applets)
    const names = spawnSync(BUSYBOX, ['--list']).stdout.toString().trim().split('\n')
    for (const name of names) await symlink(BUSYBOX, join(applets, name))
    path = `${bin}:${applets}`
  }
  const start = Date.now()
  const program = shell === 'busybox' ? BUSYBOX : shell
  const args = shell === 'busybox' ? ['sh', '-c', text] : ['-c', text]
  const child = spawn(program, [...args, 'ops-panel-health', ...words], {
    env: { PATH: path, FOLDER: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  // The reader of a look gets both in one stream.
  child.stderr.on('data', (piece: Buffer) => pieces.push(piece))
  const [code] = await once(child, 'close')
  const whole = Buffer.concat(pieces).toString('latin1')
  return { code, text: whole, lines: whole.split('\n').slice(0, -1), ms: Date.now() - start }
}

export const field = (line: string, index: number) => line.split('\t')[index]
export const ofKind = ({ lines }: Look, kind: string) => lines.filter((line) => field(line, 0) === kind).sort()
