import { rm } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { freePort } from '../free-port.ts'
import type { Account } from './rig.ts'
import { newFolder, type Service, startService } from './service.ts'

/** A service that is killed and started again. */
export async function killable(account: Account) {
  const [folder, port] = [await newFolder(), await freePort()]
  const start = () => startService({ as: account, folder, port, isProtected: true })
  let service = await start()
  let work = Promise.resolve()
  onTestFinished(async () => {
    await work.catch(() => {})
    await service.kill()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    service: (): Service => service,
    /** Kills it and waits until it is back. */
    again(): Promise<void> {
      work = work.then(async () => {
        await service.kill()
        service = await start()
      })
      return work
    },
  }
}
