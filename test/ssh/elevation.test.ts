import { expect, test } from 'vitest'
import { Failure } from '../../runtime/errors.ts'
import { elevate, elevateInTerminal } from '../../ssh/command.ts'

const failure = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error instanceof Failure ? { code: error.code, message: error.message } : error
  }
}

test('with the helper a command becomes its verb; a script runs as the account', () => {
  const command = ['/usr/sbin/pct', 'exec', '101', '--', 'apt', 'list'] as const

  expect(elevate(command, 'helper', 'command', ['packages', '101'])).toEqual([
    'sudo',
    '-n',
    '--',
    '/usr/sbin/ops-panel-host',
    'packages',
    '101',
  ])
  expect(elevate(command, 'helper', 'script')).toBe(command)
  expect(elevate(command, 'helper', 'none')).toBe(command)
})

test.each(['root', 'sudo', 'password', 'rule'] as const)('with elevation %s a verb changes nothing', (mode) => {
  const command = ['pct', 'list'] as const

  expect(elevate(command, mode, 'command', ['list'])).toEqual(elevate(command, mode, 'command'))
})

test('an action without a verb is refused by name, and so is a terminal', () => {
  const refusal = { code: 'host_helper_lacks', message: expect.stringContaining('exécuter /sbin/reboot') }

  expect(failure(() => elevate(['/sbin/reboot', 'now'], 'helper', 'command'))).toEqual(refusal)
  expect(failure(() => elevateInTerminal(['pct', 'enter', '101'], 'helper', 'prompt'))).toMatchObject({
    code: 'host_helper_lacks',
    message: expect.stringContaining('ouvrir un terminal dans un conteneur'),
  })
})
