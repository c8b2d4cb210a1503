import { afterEach, beforeEach, expect, test } from 'vitest'
import { type DemoHost, startDemoHost } from '../../demo/host.ts'
import { splitWords } from '../../demo/words.ts'
import { LIST_UPGRADABLE, parseUpgradable } from '../../functions/updates/apt.ts'
import { quote, script } from '../../ssh/command.ts'
import { START } from '../../jobs/script.ts'
import { connect, exec, run } from './client.ts'

let host: DemoHost

beforeEach(async () => {
  host = await startDemoHost({ lineMs: 0 })
})

afterEach(() => host.close())

const panel = () => connect({ port: host.port, ...host.service })
const pct = '/usr/sbin/pct' as const

test('lists the containers in the format of pct', async () => {
  const { code, stdout } = await run(await panel(), [pct, 'list'])

  expect(code).toBe(0)
  expect(stdout.split('\n')).toEqual([
    'VMID       Status     Lock         Name                ',
    '101        running                 web                 ',
    '102        running                 db                  ',
    '103        stopped                 old-backup          ',
    '',
  ])
})

test('starts and stops a container as pct does, and the list follows', async () => {
  const client = await panel()
  const statuses = async () =>
    (await run(client, [pct, 'list'])).stdout.split('\n').flatMap((line) => /^10[123] +(\w+)/.exec(line)?.[1] ?? [])
  const turn = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(client, [pct, ...words])
    return { code, said: stdout + stderr, now: await statuses() }
  }

  expect(await turn('start', '103')).toEqual({ code: 0, said: '', now: ['running', 'running', 'running'] })
  expect(await turn('start', '103')).toMatchObject({ code: 255, said: 'CT 103 already running\n' })
  expect(await turn('reboot', '101')).toEqual({ code: 0, said: '', now: ['running', 'running', 'running'] })
  expect(await turn('shutdown', '102')).toEqual({ code: 0, said: '', now: ['running', 'stopped', 'running'] })
  expect(await turn('stop', '101')).toEqual({ code: 0, said: '', now: ['stopped', 'stopped', 'running'] })
  expect(await turn('stop', '101')).toMatchObject({ code: 255, said: 'CT 101 not running\n' })
  expect(await turn('stop', '999')).toMatchObject({ code: 255, said: expect.stringContaining('999.conf') })
})

test('lists the upgradable packages of the host and of a container, in the requested language', async () => {
  const client = await panel()

  const onHost = await run(client, LIST_UPGRADABLE)
  const inside = await run(client, [pct, 'exec', '101', '--', ...LIST_UPGRADABLE])
  const french = await run(client, [pct, 'exec', '101', '--', 'apt', 'list', '--upgradable'])

  expect(await parseUpgradable(onHost.stdout)).toHaveLength(8)
  expect(onHost.stderr).toContain('apt does not have a stable CLI interface')
  expect((await parseUpgradable(inside.stdout)).map(({ name }) => name)).toEqual(host.upgradable('101'))
  expect((await parseUpgradable(inside.stdout))[1]).toEqual({
    name: 'nginx',
    version: '1.22.1-9+deb12u2',
    old_version: '1.22.1-9',
  })
  expect(french.stdout).toContain('[pouvant être mis à jour depuis : 1.22.1-9]')
})

test.each([
  ['103', "container '103' not running!\n"],
  ['999', "Configuration file 'nodes/pve/lxc/999.conf' does not exist\n"],
  ['x', "400 Parameter verification failed.\nvmid: type check ('integer') failed - got 'x'\n"],
  ['--', "400 Parameter verification failed.\nvmid: type check ('integer') failed - got '--'\n"],
])('reports why no command can run in container %s', async (id, reason) => {
  const { code, stdout, stderr } = await run(await panel(), [pct, 'exec', id, '--', 'true'])

  expect({ code, stdout }).toEqual({ code: 255, stdout: '' })
  expect(stderr.startsWith(reason)).toBe(true)
})

test.each([
  ['touch /tmp/ops-panel-demo-was-here', 'touch'],
  ['id; touch /tmp/ops-panel-demo-was-here', 'id;'],
  ['$(touch /tmp/ops-panel-demo-was-here)', '$(touch'],
  ['`id`', '`id`'],
  ["sh -c 'touch /tmp/ops-panel-demo-was-here'", 'touch'],
  ['__proto__ x', '__proto__'],
  ['constructor', 'constructor'],
  ['/bin/bash -i', '/bin/bash'],
])('runs only known commands: %s', async (line, word) => {
  const { code, stdout, stderr } = await exec(await panel(), line)

  expect({ code, stdout, stderr }).toEqual({ code: 127, stdout: '', stderr: `sh: 1: ${word}: not found\n` })
})

test('a script that differs by one character is not run', async () => {
  const { code } = await run(await panel(), script(`${START} `, 'ops-panel-start', 'x', 'id', 'true'))

  expect(code).toBe(127)
})

test('reports an unclosed quote', async () => {
  expect(await exec(await panel(), "id 'x")).toMatchObject({ code: 2, stdout: '' })
})

test('an unknown program inside a container is not found', async () => {
  const { code, stderr } = await run(await panel(), [pct, 'exec', '101', '--', 'nft'])

  expect(code).toBe(127)
  expect(stderr).toContain('Failed to exec "nft"')
})

test('the answer of any program can be replaced', async () => {
  host.override = (words, process) => {
    if (words[0] !== 'apt') return undefined
    return process.stderr('E: The list of sources could not be read.\n').then(() => 100)
  }

  const { code, stderr } = await run(await panel(), [pct, 'exec', '101', '--', ...LIST_UPGRADABLE])

  expect({ code, stderr }).toEqual({ code: 100, stderr: 'E: The list of sources could not be read.\n' })
})

test.each([
  [['a', '', "it's", '"$HOME"', 'x\ny', '\\', '-', 'é'] as const],
  [['sh', '-c', START, 'name', "'"] as const],
])('parses the words that the service has quoted', (words) => {
  expect(splitWords(quote(words))).toEqual(words)
})

test('splits words like a shell', () => {
  expect(splitWords(` a\\ b "c \\"d\\" \\x" 'e'f\tg\\\nh "" `)).toEqual(['a b', 'c "d" \\x', 'ef', 'gh', ''])
  expect(splitWords('')).toEqual([])
  expect(splitWords('a "b')).toBeUndefined()
})
