import * as z from 'zod'
import { answered } from '../answers.ts'
import { planApp } from './plan-host.ts'

export const PATH = '/api/updates/plans/p/conffiles'
export const UNCOMPARED = {
  package: 'app',
  state: 'changed',
  choice: 'keep',
  diff: null,
  diff_cut: false,
  diff_missing: null,
}
export const CONFLICT = { state: 'conflict', diff: '-a\n+b', public: true }

/** A changed file as a plan stores it. */
export const stored = (file: string, own: object = {}) => ({ file, ...UNCOMPARED, public: false, ...own })

/** The lines of `COMPARE` about a file. */
export function told(file: string, { state = 'conflict', access = 'public', note = 'text', diff = '' } = {}): string {
  const lines =
    Buffer.from(diff)
      .toString('base64')
      .match(/.{1,76}/g) ?? []
  return [`file ${state} ${access} ${note} app ${file}`, ...lines.map((line) => ` ${line}`), ''].join('\n')
}

export const Conffiles = z.looseObject({
  conffiles: z.array(
    z.looseObject({ file: z.string(), state: z.string(), choice: z.string(), diff: z.string().nullable() }),
  ),
})

/** The app with the plan `p` of these changed files, and a host that compares them with this output. */
export async function planned(files: readonly object[], stdout = 'end\n', given: Parameters<typeof planApp>[0] = {}) {
  const all = await planApp({ compared: { stdout }, ...given })
  await all.store('p', { made_by: 'alice', conffiles: JSON.stringify(files), target: 'lxc:101' })
  const request = (method: string, body?: object, as: 'user' | 'admin' = 'admin') =>
    all.app.request(method, PATH, { as, body })
  const choose = (...choices: [string, string][]) =>
    request('PUT', { choices: choices.map(([file, choice]) => ({ file, choice })) })
  const plan = async (answer: Response) => Conffiles.parse(await answered(answer, 200))
  const compare = async () => plan(await request('POST', {}))
  const now = async () => plan(await all.app.request('GET', '/api/updates/plans/p', { as: 'admin' }))
  const choices = async () => (await now()).conffiles.map(({ file, choice }) => `${choice} ${file}`)
  return { ...all, request, choose, compare, now, choices }
}
