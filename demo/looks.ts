import { INSPECTION } from '../functions/checks/check-script.ts'
import type { Run } from './pct.ts'
import type { Upgradable } from './place.ts'
import { fail, type Process, type Program } from './process.ts'

/** The number of containers that are checked at the same time. */
const LANES = 6

/** Imitates the scripts of a check and of a repair. */
export function createLooks(run: Run): { look: Program; check: Program; repair: Program } {
  const exitOf = async (words: readonly string[], process: Process): Promise<number> => {
    return (await run(words, process)) ?? fail(process, `sh: 1: ${words[0] ?? ''}: not found\n`, 127)
  }

  /** Runs a command; returns its output, both streams in one, and its exit code. */
  const heard = async (words: readonly string[], process: Process): Promise<{ code: number; text: string }> => {
    let text = ''
    const take = async (data: string | Uint8Array) => {
      text += Buffer.from(data).toString()
    }
    const code = await exitOf(words, { ...process, stdout: take, stderr: take })
    return { code, text }
  }

  const look: Program = async ([sudo = ''], process) => {
    const { place } = process
    const section = (name: string, lines: readonly string[]) =>
      process.stdout(`${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`)
    await section('os', ['ID=debian', 'VERSION_ID="12"', 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"'])
    await process.stdout('manager apt-get\n')
    const refresh = await heard([...wordsOf(sudo), 'apt-get', 'update'], process)
    const told = refresh.text.split('\n').filter((line) => /^([EW]|sudo): /.test(line))
    await section('update', [...told, `code ${refresh.code}`])
    await section('lists', ['3'])
    if (place.lock) await process.stdout('locked dpkg\n')
    await section(
      'unfinished',
      (place.unfinished ?? []).map((name) => `half-configured ok ${name}`),
    )
    await section('check', ['code 0'])
    await section('held', [])
    await section('planned', [...place.upgradable.map(planned), 'code 0'])
    await section('upgradable', ['Listing...', ...place.upgradable.map(listed), 'code 0'])
    await process.stdout('end\n')
    return 0
  }

  const check: Program = async ([mark = '', text = '', sudo = '', scope = '', only = ''], process) => {
    const frame = (name: string, { code, text: said }: { code: number; text: string }) =>
      process.stdout(`${mark} ${name} ${code}\n${said.replace(/^/gm, ' ')}\n${mark} end ${name}\n`)
    if (text !== INSPECTION) return fail(process, 'sh: 1: look: not found\n', 127)
    const tool = [...wordsOf(sudo), '/usr/sbin/pct']
    const containers = await heard([...tool, 'list'], process)
    await frame('list', containers)
    const running = [...containers.text.matchAll(/^(\d+) +running /gm)].map(([, id = '']) => id)
    const due = scope === 'host' ? [] : running.filter((id) => scope === 'all' || id === only)
    if (scope !== 'container') await frame('host', await heard(['sh', '-c', text, 'ops-panel-look', sudo], process))
    const next = async (): Promise<void> => {
      for (let id = due.shift(); id !== undefined; id = due.shift())
        await frame(
          `lxc:${id}`,
          await heard([...tool, 'exec', id, '--', 'sh', '-c', text, 'ops-panel-look', ''], process),
        )
    }
    await Promise.all(Array.from({ length: LANES }, next))
    return containers.code
  }

  const repair: Program = async (_args, process) => {
    for (const name of process.place.unfinished ?? []) await process.stdout(`Setting up ${name} ...\r\n`)
    process.place.unfinished = []
    await process.stdout('Nothing is left unfinished.\n')
    return 0
  }

  return { look, check, repair }
}

function planned({ name, old, version, suite, arch }: Upgradable): string {
  const label = suite === 'stable' ? 'Debian' : 'Debian-Security'
  return `Inst ${name} [${old}] (${version} ${label}:12/${suite} [${arch}])`
}

function listed({ name, old, version, suite, arch }: Upgradable): string {
  return `${name}/${suite} ${version} ${arch} [upgradable from: ${old}]`
}

/** Splits the scripts' variable for `sudo -n`: no words, or two. */
function wordsOf(text: string): string[] {
  return text.split(' ').filter((word) => word !== '')
}
