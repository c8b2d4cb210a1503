import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import * as z from 'zod'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { type TestHypervisor, testHypervisor } from '../../hypervisor.ts'
import { jobService } from '../../jobs/job-service.ts'
import { startDemo } from '../../runtime/demo.ts'

export const VMID = '101'
/** Seconds since 1970. */
export const now = () => Math.floor(Date.now() / 1_000)

/** The answer to one question: its exit code, and its output. */
const Answer = z.object({ question: z.string(), code: z.number(), lines: z.array(z.string()) })
type Answer = z.infer<typeof Answer>

/** The questions of a program, which gets the name of its own snapshot. `AT` stands for the time of the question. */
type Questions = (name: string) => string[]

/**
 * A service with a token of that hypervisor, whose upgrades ask on the host. `asking` starts an upgrade whose program asks
 * these questions, one after another.
 */
export async function askingService(hypervisor?: TestHypervisor, changes: Record<string, string> = {}) {
  const api = hypervisor ?? (await testHypervisor())
  const demo = await startDemo()
  const service = await jobService(demo)
  await service.settings.change({
    hypervisor_url: api.url,
    hypervisor_token: api.token,
    hypervisor_fingerprint: api.fingerprint,
    ...changes,
  })
  let questions: Questions = () => []
  let answeredAt = 0
  /** As the program on the host: the second of a question is later than that of the answer before. */
  const later = async () => {
    while (now() <= answeredAt) await pause(20)
    return String(now())
  }
  demo.override = (words, process) => {
    if (words[0] !== 'perl') return undefined
    const run = async () => {
      for (const asked of questions(words[5] ?? '')) {
        if (asked.startsWith('phase ')) {
          process.note?.(JSON.stringify({ phase: asked.slice('phase '.length) }))
          continue
        }
        const question = asked.includes('AT') ? asked.replace('AT', await later()) : asked
        process.note?.(JSON.stringify({ ask: question }))
        const [first = '', ...lines] = (await process.asked?.(question, 60_000)) ?? []
        answeredAt = now()
        const [, code = '-1'] = /^code (\d+)$/.exec(first) ?? []
        await process.stdout(`${JSON.stringify({ question, code: Number(code), lines })}\n`)
      }
      return 0
    }
    return run()
  }
  const answersOf = async (id: string) =>
    (await service.output(id))
      .split('\n')
      .flatMap((line): Answer[] => (line === '' ? [] : [Answer.parse(JSON.parse(line))]))
  return {
    ...service,
    demo,
    api,
    snapshots: api.snapshots,
    /** Starts an upgrade of the container, and returns the job's id. */
    async asking(ask: Questions) {
      questions = ask
      const [user] = await service.db.query(z.object({ id: z.number() }), 'SELECT id FROM users')
      const target = `lxc:${VMID}`
      const args = { target, protection: DEFAULT_PROTECTION }
      return service.jobs.start({ kind: 'upgrade', args, target, startedBy: user?.id ?? 0 })
    },
    /** The answers of an ended job. */
    async answers(id: string) {
      await expect.poll(async () => (await service.row(id)).status, { timeout: 60_000 }).not.toBe('running')
      return answersOf(id)
    },
  }
}
