import type { Host } from '../../ssh/ssh.ts'
import { CONTAINER_TOOL } from '../hypervisor/pct.ts'

/** The needs of one part of the protection of upgrades, for a limited sudo rule. */
interface Part {
  program: string
  /** The words with which the service runs the program, with made-up values. */
  calls: readonly (readonly string[])[]
  /** The work that all of it allows, in French. */
  allows: string
  /** The consequence without it, in French. */
  lacks: string
}

const ID = '100'
const NAME = 'panel-1772366400-k3x9q2pa'
const ARCHIVE = `local:backup/vzdump-lxc-${ID}-2026_03_01-12_00_00.tar.zst`

const PARTS: readonly Part[] = [
  {
    program: CONTAINER_TOOL,
    calls: [
      ['snapshot', ID, NAME, '--description', 'ops-panel: before an upgrade'],
      ['rollback', ID, NAME, '--start', '1'],
      ['delsnapshot', ID, NAME],
      ['listsnapshot', ID],
      ['config', ID],
      ['status', ID],
      ['start', ID],
      ['unlock', ID],
    ],
    allows: 'les instantanés',
    lacks: 'pas d’instantané avant une mise à jour, sauf par l’API de l’hyperviseur',
  },
  {
    program: '/usr/sbin/lvs',
    calls: [[]],
    allows: 'la lecture de la place dans les pools LVM',
    lacks: 'un pool LVM presque plein n’est pas vu avant un instantané',
  },
  {
    program: '/usr/bin/vzdump',
    calls: [[ID, '--mode', 'snapshot', '--compress', 'zstd']],
    allows: 'les sauvegardes',
    lacks: 'pas de sauvegarde avant une mise à jour',
  },
  {
    program: CONTAINER_TOOL,
    calls: [
      ['stop', ID],
      ['restore', ID, ARCHIVE, '--storage', 'local-lvm', '--force', '1'],
    ],
    allows: 'la restauration d’une sauvegarde',
    lacks: 'aucune sauvegarde ne peut être restaurée',
  },
  {
    program: '/usr/sbin/pvesm',
    calls: [
      ['list', 'local', '--content', 'backup', '--vmid', ID],
      ['free', ARCHIVE],
    ],
    allows: 'la suppression des sauvegardes',
    lacks: 'les sauvegardes du panneau ne sont jamais supprimées',
  },
]

/**
 * Checks which lines a sudo rule for single commands has for protected upgrades; other accounts need none. Upgrades without
 * protection work without them. Changes nothing: sudo only says whether it would run a command.
 */
export async function checkProtection(
  host: Host,
  username: string,
): Promise<{ ok: boolean; optional?: boolean; message: string }[]> {
  if ((await host.elevation()) !== 'rule') return []
  const allowed: string[] = []
  const missing: { ok: false; optional: true; message: string }[] = []
  for (const { program, calls, allows, lacks } of PARTS) {
    if ((await host.exec(['test', '-e', program])).code !== 0) continue
    const refused: string[] = []
    for (const words of calls) {
      const { code } = await host.exec(['sudo', '-n', '-l', program, ...words])
      if (code !== 0) refused.push([program.slice(program.lastIndexOf('/') + 1), ...words.slice(0, 1)].join(' '))
    }
    if (refused.length === 0) allowed.push(allows)
    else {
      const named = refused[0]?.startsWith('vzdump') ? 'vzdump' : refused.join(', ')
      const line = `${username} ALL=(root) NOPASSWD: ${program}`
      const message = `La règle sudo de ${username} ne permet pas ${named} : ${lacks}. Pour le permettre : ${line}`
      missing.push({ ok: false, optional: true, message })
    }
  }
  // The check of the account's rights says what is wrong.
  if (allowed.length === 0) return []
  const message = `Protection des mises à jour : la règle sudo de ${username} permet ${allowed.join(', ')}.`
  return [{ ok: true, message }, ...missing]
}
