import { expect } from 'vitest'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'
import { testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { saying, writeFiles } from '../functions/modules/module.ts'
import { runProgram } from './program.ts'
import { startReplaceable } from './replaceable.ts'

/** The time within which the panel answers again, whatever a module does. */
export const BACK_MS = 30_000

const Repairs = z.array(
  z.object({ id: z.string(), problem: z.string().nullable(), detail: z.string().nullable(), is_enabled: z.number() }),
)

/** Returns the code of a module whose endpoint answers, and which begins to do that after its start. */
export const doing = (id: string, work: string, afterMs: number) =>
  `${saying(id, 'x')}; setTimeout(() => { ${work} }, ${afterMs})`

/** A program that installs these modules from folders, in this order, and then starts with all of them. */
export async function startGuarded(modules: Readonly<Record<string, string>>, env: Record<string, string> = {}) {
  const forge = await testForge()
  const data = await temporaryFolder()
  const settings = { PANEL_PORT: String(await freePort()), ...env }
  const first = await startReplaceable(forge, data, settings)
  first.kill('SIGTERM')
  await first.ended
  for (const [id, code] of Object.entries(modules)) {
    const folder = await temporaryFolder()
    const descriptor = { id, name: id, version: '1', has_backend: true }
    await writeFiles(folder, { 'module.json': JSON.stringify(descriptor), 'backend.mjs': code })
    expect((await runProgram({ PANEL_DATA_DIR: data }, 'modules', 'install', folder)).code).toBe(0)
  }
  const service = await startReplaceable(forge, data, settings)
  const asked = (path: string) => service.get(path, AbortSignal.timeout(1_000)).catch(() => undefined)
  return {
    ...service,
    asked,
    /** The problems of the modules, by id. */
    async problems() {
      const answer = await asked('/api/repair/modules')
      if (answer?.status !== 200) return undefined
      return Object.fromEntries(Repairs.parse(answer.body).map(({ id, problem, detail }) => [id, { problem, detail }]))
    },
    /** Waits until the service has taken out this module; returns why, and how long no request was answered. */
    async takesOut(id: string, timeout = 90_000) {
      let [silence, heard] = [0, performance.now()]
      let detail: string | null = null
      await expect
        .poll(
          async () => {
            const { [id]: found } = (await this.problems()) ?? {}
            if (found) {
              silence = Math.max(silence, performance.now() - heard)
              heard = performance.now()
              detail = found.detail
            }
            return found?.problem
          },
          { timeout, interval: 100 },
        )
        .toBe('taken_out')
      return { detail: detail ?? '', silence }
    },
  }
}

/** The names of the actions of the audit log that concern modules, newest first. */
export async function auditOf(service: { get(path: string): Promise<{ body: unknown }> }, action: string) {
  const Entries = z.object({ entries: z.array(z.object({ target: z.string(), ip: z.string().nullable() })) })
  return Entries.parse((await service.get(`/api/audit?action=${action}`)).body).entries
}
