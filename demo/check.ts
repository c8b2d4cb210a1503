import { INSPECTION } from '../functions/checks/check-script.ts'
import { quote } from '../ssh/ssh.ts'
import { STORAGE } from '../functions/protection/storage-script.ts'
import { fail, type Program } from './process.ts'
import { type Heard, type Shell, wordsOf } from './sh.ts'

/** Imitates `CHECK`, which inspects the host and its running containers, so many at a time. */
export function createCheck({ heard }: Shell): Program {
  return async ([mark = '', sudo = '', scope = '', only = '', lanes = ''], process) => {
    const block = (name: string, { code, text: said }: Heard) => {
      const lines = said.replace(/\n$/, '').replace(/^/gm, ' ')
      return process.stdout(`${mark} ${name} ${code}\n${said === '' ? '' : `${lines}\n`}\n${mark} end ${name}\n`)
    }
    const text = INSPECTION
    if (!process.program?.text.includes(quote([text]))) return fail(process, 'sh: 1: look: not found\n', 127)

    const take = createLanes(Number(lanes))
    const look = ['sh', '-c', text, 'ops-panel-look']
    const tool = [...wordsOf(sudo), '/usr/sbin/pct']
    const inspected = async (name: string, words: readonly string[]) => {
      await take(async () => block(name, await heard(words, process)))
    }
    /** The script prints nothing else of a container's configuration, and ends with the code of its filter. */
    const flagged = async (id: string) => {
      await take(async () => {
        const config = await heard([...tool, 'config', id], process)
        const isTemplate = config.text.split('\n').includes('template: 1')
        await block(`flags:${id}`, { code: 0, text: isTemplate ? 'template: 1\n' : '' })
      })
    }

    const work: Promise<void>[] = []
    if (scope !== 'container') work.push(inspected('host', [...look, sudo]))
    if (scope !== 'host') {
      const which = scope === 'container' ? only : 'all'
      work.push(inspected('storage', ['sh', '-c', STORAGE, 'ops-panel-storage', which]))
    }
    const list = await heard([...tool, 'list'], process)
    await block('list', list)
    const listed = [...list.text.matchAll(/^(\d+) +(\w+) /gm)].filter(([, id]) => scope === 'all' || id === only)
    if (list.code !== 0) await process.stdout(`${list.text.trimEnd().split('\n').at(-1) ?? ''}\n`)
    for (const [, id = '', status] of scope === 'host' ? [] : listed)
      work.push(status === 'running' ? inspected(`lxc:${id}`, [...tool, 'exec', id, '--', ...look, '']) : flagged(id))
    await Promise.all(work)
    if (scope === 'container' && listed.length === 0) return fail(process, `container ${only}: not listed\n`, 2)
    return scope === 'host' ? 0 : list.code
  }
}

/** Returns a function that runs so many works at a time, in the order in which they come. */
function createLanes(free: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = []
  let left = free
  return async (work) => {
    if (left > 0) left -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else left += 1
    }
  }
}
