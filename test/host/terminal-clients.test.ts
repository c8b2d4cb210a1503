import { readFile, rm } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { openTerminal, say, type Terminal, WAIT } from '../terminal-client.ts'
import { auditEntries } from './audit.ts'
import { type Caller, signIn } from './client.ts'
import { inside, rig } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'
import { at, runs } from './terminals.ts'

describe('terminals with any service account', () => {
  let service: Service
  let alice: Caller
  beforeEach(async () => {
    await rig('reset')
    service = await startService()
    alice = await signIn(service, 'alice')
  })

  const flooding = async (): Promise<Terminal> => {
    const terminal = await openTerminal(at(alice), 'host')
    await say(terminal, 'true')
    terminal.type('yes\r')
    await terminal.until('y\r\ny\r\ny')
    return terminal
  }

  test('when a client stops reading, the host’s program waits and the service’s memory stays bounded', async () => {
    const rss = async () =>
      Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024
    // Warm-up: the memory that the first output takes once is not counted.
    const first = await openTerminal(at(alice), 'host')
    await say(first, 'yes | head -c 20000000 >/dev/tty')
    first.ws.close()
    const terminal = await flooding()
    const before = await rss()
    const ticks = async () =>
      Number((await inside('host', 'cut -d" " -f14,15 /proc/$(pgrep -x yes)/stat')).split(' ')[0])

    terminal.ws.pause()

    // `yes` uses no more processor time: it is blocked.
    let last = -1
    await expect
      .poll(
        async () => {
          const now = await ticks()
          const still = now === last
          last = now
          return still
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toBe(true)
    expect((await rss()) - before).toBeLessThan(32)
    terminal.forget()
    terminal.ws.resume()
    await terminal.until(/y/)
    terminal.type('\x03')
    await terminal.until(/\^C/)
    terminal.ws.close()
    await service.stop()
  })

  test('a program that reads no input ends when its client’s connection is lost', async () => {
    const terminal = await openTerminal(at(alice), 'lxc:101')
    const other = await openTerminal(at(alice), 'host')
    await say(terminal, 'stty raw -echo')
    await say(other, 'true')
    terminal.type('exec sleep 4325\n')
    await expect.poll(() => runs('101', 'sleep 4325'), WAIT).toBe(true)
    // More than all windows and buffers on the way hold, so the service stops reading from the socket.
    for (let n = 0; n < 400; n += 1) terminal.type(Buffer.alloc(60_000, 'x'))

    terminal.ws.terminate()

    // The service notices because its ping can no longer be sent.
    await expect.poll(() => runs('101', 'sleep 4325'), { timeout: 100_000, interval: 1_000 }).toBe(false)
    await say(other, 'true')
    await service.stop()
  })

  test('SIGTERM closes a terminal with 1001 and ends its shell, with both entries in the audit log', async () => {
    const folder = await newFolder()
    const before = await startService({ folder })
    const terminal = await openTerminal(at(await signIn(before, 'alice')), 'lxc:101')
    await say(terminal, 'true')
    terminal.type('sleep 4324\r')
    await expect.poll(() => runs('101', 'sleep 4324'), WAIT).toBe(true)

    await before.stop()

    expect((await terminal.closed).code).toBe(1001)
    await expect.poll(() => runs('101', 'sleep 4324'), WAIT).toBe(false)
    const after = await startService({ folder })
    const all = await auditEntries(await signIn(after, 'alice'), 'limit=100')
    const entries = all.filter(({ action }) => action.startsWith('terminal'))
    expect(entries).toEqual([
      {
        action: 'terminal_close',
        username: 'alice',
        target: 'lxc:101',
        details: { seconds: expect.any(Number), code: null },
      },
      { action: 'terminal_open', username: 'alice', target: 'lxc:101', details: null },
    ])
    await after.stop()
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  })
})
