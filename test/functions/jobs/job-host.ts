import { expect } from 'vitest'
import * as z from 'zod'
import type { Output } from '../../../ssh/channel.ts'
import type { Command } from '../../../ssh/command.ts'
import { HELPER_VERSION } from '../../../functions/elevation/installed-helper.ts'
import { CLEAN, FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import type { testApp } from '../../app.ts'

/** A host on which a job writes `text` at once and exits with `code`; `list` answers the listing of containers. */
export function jobHost({ text = '', code = 0, list = {} }: { text?: string; code?: number; list?: Partial<Output> }) {
  return {
    exec(command: Command): Partial<Output> {
      if (command[1] === 'list') return list
      if (command[1] === 'version') return { stdout: `${HELPER_VERSION}\n` }
      if (command[2] !== FOLLOW) return {}
      return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit ${code} ${Buffer.byteLength(text)}\n` }
    },
  }
}

type App = Awaited<ReturnType<typeof testApp>>

const History = z.array(z.looseObject({ status: z.string() })).nullable()

/** Returns the history once no job is running. */
export async function settled(app: App): Promise<z.infer<typeof History>> {
  const authorization = `Bearer ${await app.tokenFor('user')}`
  const read = async () => {
    const response = await app.request('GET', '/api/updates/history', { headers: { authorization } })
    return History.parse(await response.json())
  }
  await expect.poll(async () => (await read())?.every(({ status }) => status !== 'running')).toBe(true)
  return read()
}

/** Returns the scripts of the job that ran, in order, with their arguments after the job's id. */
export function jobScripts({ ran }: App) {
  const names = new Map([
    [START, 'start'],
    [FOLLOW, 'follow'],
    [CLEAN, 'clean'],
  ])
  return ran.flatMap(({ command, rights }) => {
    const script = names.get(command[2] ?? '')
    return script === undefined ? [] : [{ script, rights }]
  })
}
