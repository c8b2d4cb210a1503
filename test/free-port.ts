import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Below the ports that the kernel gives to outgoing connections and to servers that ask for any. */
const [FIRST, COUNT] = [10_000, 10_000]
const TAKEN = join(tmpdir(), 'ops-panel-test-ports')

/**
 * Returns a port of 127.0.0.1 on which nobody listens. No other test gets it while this process runs: a service binds
 * it later than this call, and two tests would otherwise be given the same one.
 */
export async function freePort(): Promise<number> {
  mkdirSync(TAKEN, { recursive: true })
  for (let tries = 0; tries < COUNT; tries += 1) {
    const port = FIRST + randomInt(COUNT)
    if (reserve(port) && (await isFree(port))) return port
  }
  throw new Error('no free port')
}

const reserved = new Set<string>()

function release(): void {
  for (const file of reserved) rmSync(file, { force: true })
}

function reserve(port: number): boolean {
  const file = join(TAKEN, String(port))
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
  } catch {
    if (!isRunning(ownerOf(file))) rmSync(file, { force: true })
    return false
  }
  if (reserved.size === 0) process.once('exit', release)
  reserved.add(file)
  return true
}

function ownerOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8')) || process.pid
  } catch {
    return process.pid
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
