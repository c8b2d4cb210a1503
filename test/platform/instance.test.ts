import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { thisInstance } from '../../platform/program.ts'

/** Starts another process of this machine, and returns the id that it would give itself. */
async function otherProcess(self: string) {
  const child = spawn('sleep', ['60'])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8')
  const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const [machine] = self.split('/')
  const end = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { id: `${machine}/${child.pid}/${started}/aaaa`, pid: child.pid, started, machine, end }
}

test('an id names the machine, the process and its start time, and is unique', async () => {
  const [one, two] = [await thisInstance(), await thisInstance()]

  const [machine, pid, started, random] = one.id.split('/')
  expect(machine).toMatch(/^[0-9a-f-]{36}\.\d+$/)
  expect(pid).toBe(String(process.pid))
  expect(started).toMatch(/^\d+$/)
  expect(random).toMatch(/^[0-9a-f]{12}$/)
  expect(two.id).not.toBe(one.id)
})

test('a running process is not gone, nor is this one', async () => {
  const { id, isGone } = await thisInstance()
  const other = await otherProcess(id)

  expect(await isGone(id)).toBe(false)
  expect(await isGone(other.id)).toBe(false)
})

test('an ended process of this machine is gone', async () => {
  const { id, isGone } = await thisInstance()
  const other = await otherProcess(id)

  await other.end()

  expect(await isGone(other.id)).toBe(true)
})

test('a process that reuses a pid is not mistaken for the ended one', async () => {
  const { id, isGone } = await thisInstance()
  const { machine, pid, started } = await otherProcess(id)

  expect(await isGone(`${machine}/${pid}/${Number(started) - 1}/aaaa`)).toBe(true)
  expect(await isGone(`${machine}/${pid}/${started}/aaaa`)).toBe(false)
})

test.each([
  ['another machine', (machine: string) => `0${machine}`],
  ['another boot of this one', (machine: string) => machine.replace(/^[0-9a-f-]{36}/, '0'.repeat(36))],
  ['another container of this one', (machine: string) => machine.replace(/\d+$/, '1')],
  ['an unknown machine', () => ''],
])('a process of %s is never certain, even if its pid is free here', async (_, change) => {
  const { id, isGone } = await thisInstance()
  const other = await otherProcess(id)
  await other.end()
  const [machine = '', ...rest] = other.id.split('/')

  expect(await isGone([change(machine), ...rest].join('/'))).toBe(false)
})

test.each(['', '//', '///aaaa', 'nonsense', 'a/b/c/d'])('the id %j gives no certainty', async (id) => {
  const { isGone } = await thisInstance()

  expect(await isGone(id)).toBe(false)
})
