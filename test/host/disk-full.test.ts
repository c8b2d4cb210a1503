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
  await replacePostinst('101', WORDY)
})

test('a disk that is full for 30 s in the middle of a job costs no byte of it', async () => {
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
    // The backup command empties the log when it ends, after ten seconds: until that room is used up, small changes are taken.
    settleMs: 15_000,
    async begin() {
      // Else what comes next would lie where something has been before.
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

test('a service whose disk is full at its first start says so, leaves nothing half done, and starts once there is room', async () => {
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
 * What the service was storing while the disk filled up, and could not store whole, has left room in the log for smaller
 * things: some seconds of them, or a whole outage. Changes of one page each take it.
 */
async function useUp(client: Client): Promise<void> {
  // There and back: what is so already is not written.
  const change = [`applied_at || ' '`, 'rtrim(applied_at)'].map(
    (value) => `UPDATE schema_version SET applied_at = ${value} WHERE version = 1`,
  )
  const all = async () => {
    for (let n = 0; n < 5_000; n += 1) await client.batch(change, 'write')
  }
  await expect(all()).rejects.toThrow('full')
}

/** A file system of its own, as small as the service's data are. */
async function smallDisk(): Promise<string> {
  const folder = await newFolder()
  await run('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'ops-panel-test', folder])
  onTestFinished(async () => {
    // libSQL lets go of a file that was closed when the garbage is collected.
    await run('umount', ['--lazy', folder])
    await rm(folder, { recursive: true })
  })
  return folder
}

/** Takes all that is left of a disk, and gives it back. */
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

/** Lines that nothing makes shorter. */
const WORDY = `#!/bin/sh
[ "$1" = configure ] && [ -n "$2" ] || exit 0
for line in $(seq ${LINES}); do
  printf 'rig-slow: step %s of ${LINES} ' "$line"
  head -c 3000 /dev/urandom | base64 -w0
  echo
  sleep 0.05
done
`
