import { expect, test } from 'vitest'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { LIST_UNFINISHED } from '../../../functions/updates/apt.ts'
import { leftoversOf } from '../../../functions/updates/upgrade.ts'
import type { Output } from '../../../ssh/channel.ts'
import type { Command } from '../../../ssh/command.ts'
import { testApp } from '../../app.ts'

/** A host on which containers answer: `apt` with dpkg, others with the lines of their manager. */
async function hostWith(
  containers: Record<string, { manager: string; lines?: string; verb?: boolean; dpkg?: number }>,
) {
  const list = Object.keys(containers).map((id) => `${id} running x\n`)
  const app = await testApp([], {
    fake: {
      exec(command: Command): Partial<Output> {
        if (command[1] === 'list') return { stdout: `VMID Status Name\n${list.join('')}` }
        const { manager = '', lines = '', verb = false, dpkg = 127 } = containers[command[2] ?? ''] ?? {}
        const head = `manager ${manager}\n`
        if (verb) return { stdout: `${head}${lines}` }
        if (manager === 'apt-get') return { stdout: lines }
        const text = command.find((word) => word.includes('\n')) ?? ''
        if (command.includes(LIST_UNFINISHED[0])) return { code: dpkg }
        return text.includes('_verify') ? { stdout: `${head}${lines}` } : { stdout: head }
      },
    },
  })
  return app
}

test('what each manager has left of a cancelled upgrade is told with its name and its words', async () => {
  const app = await hostWith({
    101: { manager: 'apt-get', lines: 'half-configured curl\ninstalled bash\n' },
    111: { manager: 'dnf', lines: 'unfinished|app|two versions of app are installed\nbroken|x|x needs y\ncode|0\n' },
    112: { manager: 'zypper', lines: 'code|0\n' },
    113: { manager: 'pacman', lines: 'unfinished|-|a stale lock\ncode|0\n', verb: true },
    114: { manager: 'apk', lines: 'unfinished|-|x\n' },
  })

  expect(await leftoversOf('all', app.services.host)).toEqual([
    'dpkg a été interrompu (LXC 101) : curl. La prochaine mise à jour répare d’abord.',
    'dnf n’a pas fini son travail (LXC 111) : two versions of app are installed, x needs y.',
    'pacman n’a pas fini son travail (LXC 113) : a stale lock.',
    'apk n’a pas pu dire ce qu’il a laissé (LXC 114).',
  ])
  const asked = app.ran.map(({ command }) => command.join(' '))
  expect(asked.filter((text) => text.includes(managerText('dnf')))).toHaveLength(1)
  expect(asked.some((text) => text.includes(managerText('zypper')) && text.includes(' 111 '))).toBe(false)
})

test.each([
  ['zypper', 'zypper n’a rien laissé d’inachevé.'],
  ['apt-get', 'dpkg n’a rien laissé d’inachevé.'],
])('a %s that has left nothing says so', async (manager, sentence) => {
  const app = await hostWith({ 112: { manager, lines: manager === 'apt-get' ? '' : 'code|0\n' } })

  expect(await leftoversOf('lxc:112', app.services.host)).toEqual([sentence])
})

test('a dpkg without packages does not answer for another manager', async () => {
  const app = await hostWith({ 111: { manager: 'dnf', lines: 'unfinished|app|two versions\ncode|0\n', dpkg: 0 } })

  expect(await leftoversOf('lxc:111', app.services.host)).toEqual([
    'dnf n’a pas fini son travail (LXC 111) : two versions.',
  ])
})
