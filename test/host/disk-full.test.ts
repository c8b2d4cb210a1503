import { execFile } from 'node:child_process'
import { open, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, createClient } from '@libsql/client'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { countFolders } from './begun.ts'
import { signIn } from './client.ts'
import { throughOutage } from './outage.ts'
import { replacePostinst } from './postinst.ts'
import { rig } from './rig.ts'
import { commandLine, newFolder, startService } from './service.ts'

const run = promisify(execFile)
const LINES = 700

beforeAll(async () => {
  await rig('reset')
  await countFolders()
  await replacePostinst('101', LONG_LINES_POSTINST)
})

test('a job loses no byte while the service’s disk is full for 30 s', async () => {
  const folder = await smallDisk()
  const service = await startService({ folder })
  onTestFinished(service.stop)
  const bob = await signIn(service, 'bob')
  const { fill, free } = filler(folder)
  await throughOutage({
    service,
    bob,
    place: '101',
    readable: true,
    // After ten seconds the backup command ends and empties the write-ahead log, which leaves room for small changes.
    settleMs: 15_000,
    async begin() {
      // Otherwise the next changes would overwrite used pages of the log and need no room.
      await withDatabase(folder, (client) => client.execute('PRAGMA wal_checkpoint(TRUNCATE)'))
      await fill()
      await withDatabase(folder, useUp)
    },
    end: free,
    async meanwhile() {
      const backup = commandLine(service, 'backup', join(folder, 'copy.db'))
      await expect(backup).rejects.toThrow('plus de place sur le disque')
      expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('copy'))
      await withDatabase(folder, useUp)
    },
  })
  expect(await readdir(folder)).toEqual(['panel.db', 'panel.db-shm', 'panel.db-wal', 'secret.key'])
})

test('a service reports a full disk at its first start, and starts once there is room', async () => {
  const folder = await smallDisk()
  const { fill, free } = filler(folder)
  await fill()

  await expect(startService({ folder })).rejects.toThrow('ops-panel : il n’y a plus de place sur le disque')

  await free()
  const service = await startService({ folder })
  await signIn(service, 'bob')
  await service.stop()
})

async function withDatabase(folder: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = createClient({ url: `file:${folder}/panel.db`, timeout: 5_000 })
  try {
    await work(client)
  } finally {
    client.close()
  }
}

/**
 * Uses up the room that the service's last failed write has left in the log, with changes of one page each. Otherwise
 * small changes could succeed for seconds, or for the whole outage.
 */
async function useUp(client: Client): Promise<void> {
  // Back and forth: SQLite does not write an unchanged page.
  const change = [`applied_at || ' '`, 'rtrim(applied_at)'].map(
    (value) => `UPDATE schema_version SET applied_at = ${value} WHERE version = 1`,
  )
  const all = async () => {
    for (let n = 0; n < 5_000; n += 1) await client.batch(change, 'write')
  }
  await expect(all()).rejects.toThrow('full')
}

/** Mounts a file system of 32 MiB for the service's data. */
async function smallDisk(): Promise<string> {
  const folder = await newFolder()
  await run('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'ops-panel-test', folder])
  onTestFinished(async () => {
    // libSQL closes its files only at garbage collection.
    await run('umount', ['--lazy', folder])
    await rm(folder, { recursive: true })
  })
  return folder
}

/** Fills a disk to its last byte, and frees it again. */
function filler(folder: string) {
  const file = join(folder, 'filler')
  return {
    async fill() {
      const { bavail, bsize } = await statfs(folder)
      const handle = await open(file, 'w')
      await handle.write(Buffer.alloc(bavail * bsize)).catch(() => {})
      for (const size of [4096, 1]) {
        try {
          for (;;) await handle.appendFile(Buffer.alloc(size))
        } catch (error) {
          expect(error).toMatchObject({ code: 'ENOSPC' })
        }
      }
      await handle.close()
    },
    free: () => rm(file),
  }
}

/** Prints incompressible lines. */
const LONG_LINES_POSTINST = `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
for line in $(seq ${LINES}); do
  printf 'rig-slow: step %s of ${LINES} ' "$line"
  head -c 3000 /dev/urandom | base64 -w0
  echo
  sleep 0.05
done
`
