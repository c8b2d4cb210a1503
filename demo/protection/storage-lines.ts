import type { Place } from '../place.ts'
import { fail, type Program } from '../process.ts'
import { type Shell, wordsOf } from '../sh.ts'
import { rootVolume, STORAGE_CFG } from './storage.ts'

const MISUSED = 64

/** Imitates `STORAGE all|<id>`: the host's storages, and of each container its volumes and snapshots. */
export const storageLines: Program = async ([which = ''], process) => {
  const { machine, user, stdout } = process
  if (!/^(all|\d+)$/.test(which)) return fail(process, '', MISUSED)
  // Only root reads /etc/pve.
  if (user.uid === 0) {
    const asked = machine.containers.filter(({ id }) => which === 'all' || id === which)
    await stdout([...storages(), ...asked.flatMap(linesOf)].map((line) => `${line}\n`).join(''))
  }
  await stdout('end\n')
  return 0
}

function storages(): string[] {
  const sections = STORAGE_CFG.split('\n\n').filter((section) => section.trim() !== '')
  return ['storages', ...sections.map(storageOf)]
}

function storageOf(section: string): string {
  const [, type = '', name = ''] = /^(\w+): (\S+)/.exec(section) ?? []
  const [, content = ''] = /\tcontent (\S+)/.exec(section) ?? []
  return `storage ${name} ${type} ${content.split(',').includes('backup') ? 'backup' : '-'}`
}

function linesOf(place: Place): string[] {
  const { id, snapshots = [] } = place
  const volumes = Object.entries({ ...place.mounts, rootfs: rootVolume(place) })
  return [
    `container ${id}`,
    ...volumes.map(([name, volume]) => `volume ${id} ${name} ${kindOf(volume.split(',')[0] ?? '')}`),
    ...snapshots.map(({ name, at }) => `snapshot ${id} ${name} ${at}`),
  ]
}

function kindOf(volume: string): string {
  if (volume.startsWith('/dev/')) return 'device'
  return volume.startsWith('/') ? 'bind' : `storage ${volume.split(':')[0]}`
}

/** Imitates `STATE <sudo> <id> <name>`: the state of a container, its lock, and whether it has a snapshot. */
export function createState({ heard }: Shell): Program {
  return async ([sudo = '', id = '', name = ''], process) => {
    const pct = (...words: string[]) => heard([...wordsOf(sudo), '/usr/sbin/pct', ...words], process)
    const [, status] = /^status: (\w+)/.exec((await pct('status', id)).text) ?? []
    const [, lock] = /^lock: (\S+)$/m.exec((await pct('config', id)).text) ?? []
    const { code } = await pct('config', id, '--snapshot', name)
    const lines = [
      ...(status === undefined ? [] : [`status ${status}`]),
      ...(lock === undefined ? [] : [`lock ${lock}`]),
      `snapshot ${code === 0 ? 'whole' : 'none'}`,
    ]
    await process.stdout(`${lines.join('\n')}\n`)
    return 0
  }
}
