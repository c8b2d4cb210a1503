import { readFile } from 'node:fs/promises'
import { expect, inject } from 'vitest'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'
import type { TestForge } from '../forge.ts'
import { startProgram } from './program.ts'
import { issue } from './service.ts'

const Ready = z.object({ msg: z.literal('ready'), url: z.string() })
const Health = z.object({ boot_id: z.string() })
const Deployment = z.object({ state: z.string(), log: z.array(z.string()), error: z.string().nullable() })
export const Begun = z.object({ deployment: z.string().nullable() })
const List = z.array(z.looseObject({ id: z.string() }))

/** The program, which can restart its service, with a forge. */
export async function startReplaceable(forge: TestForge, folder?: string, env: Record<string, string> = {}) {
  const data = folder ?? (await temporaryFolder())
  const program = startProgram({
    PANEL_SSH_HOST: '127.0.0.1:1',
    ...env,
    PANEL_DATA_DIR: data,
    PANEL_DEPLOYER: 'process',
    PANEL_FORGE_URL: forge.url,
    PANEL_FORGE_ORG: forge.org,
    PANEL_JWT_KEY: inject('signingKey').pem,
  })
  await program.said('"msg":"ready"')
  const line = program
    .stdout()
    .split('\n')
    .find((each) => each.includes('"msg":"ready"'))
  const { url } = Ready.parse(JSON.parse(line ?? ''))
  // The previous service still answers once on a connection kept over the change.
  const headers = { authorization: `Bearer ${await adminToken(data)}`, connection: 'close' }
  const get = async (path: string, signal?: AbortSignal) => {
    const answer = await fetch(`${url}${path}`, { headers, ...(signal && { signal }) })
    return { status: answer.status, body: await answer.json() }
  }
  const send = (method: 'POST' | 'DELETE', path: string, body?: object) =>
    fetch(`${url}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  return {
    ...program,
    url,
    data,
    get,
    post: (path: string, body?: object) => send('POST', path, body),
    remove: (path: string) => send('DELETE', path),
    boot: async () => Health.parse((await get('/api/health')).body).boot_id,
    /** Waits until a start other than that one answers. */
    anew: (boot: string) =>
      expect
        .poll(
          // When a service is killed, Node leaves the connection open that was just being handed to it.
          () =>
            get('/api/health', AbortSignal.timeout(2_000)).then(
              ({ body }) => Health.parse(body).boot_id,
              () => boot,
            ),
          { timeout: 60_000 },
        )
        .not.toBe(boot),
    module: async (id: string) => List.parse((await get('/api/modules')).body).find((each) => each.id === id),
    /** Installs the module of the forge, and waits for the end of the installation. */
    async install(id: string) {
      const answer = await send('POST', `/api/registry/modules/${id}/install`)
      const text = await answer.text()
      expect({ status: answer.status, text }).toEqual({ status: 202, text })
      const { deployment } = Begun.parse(JSON.parse(text))
      return this.end(deployment ?? '')
    },
    async end(deployment: string) {
      let last = { state: '', log: [''], error: null as string | null }
      await expect
        .poll(
          async () => {
            last = Deployment.parse((await get(`/api/registry/deployments/${deployment}`)).body)
            return last.state
          },
          { timeout: 80_000, interval: 50 },
        )
        .toMatch(/done|failed|rolled_back/)
      return last
    },
  }
}

const adminToken = async (folder: string) => (await issue(folder, 900, { isAdmin: true })).token

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text
    .trim()
    .split(' ')
    .filter((each) => each !== '')
    .map(Number)
}

/** Kills it together with its processes, without notice to any of them. */
export async function killAll(service: { pid: number; ended: Promise<unknown> }): Promise<void> {
  const all = [...(await childrenOf(service.pid)), service.pid]
  for (const pid of all) process.kill(pid, 'SIGSTOP')
  for (const pid of all) process.kill(pid, 'SIGKILL')
  await service.ended
}
