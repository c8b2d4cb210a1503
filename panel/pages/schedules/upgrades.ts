import { useRef } from 'preact/hooks'
import { ApiError } from '../../../client/index.ts'
import type { Upgrade, Upgrades } from '../../nouns/night.ts'
import type { Run } from '../../nouns/schedule.ts'
import { type Load, useLoad } from '../../wire/load.ts'
import { readRun } from '../../wire/plans.ts'

const EVERY_MS = 2_000

/** The records of a run's upgrades by job. Those of a wave are read until all of them have ended. */
export function useUpgrades(run: Run | undefined): Load<Upgrades> {
  const ended = useRef(new Map<string, readonly Upgrade[]>())
  const ids = (run?.waves ?? []).flatMap(({ run_id: id }) => (id === null ? [] : [id]))
  const isOver = run === undefined || run.state !== 'running'
  return useLoad(
    async (signal) => {
      const all: Upgrade[] = []
      for (const id of ids) {
        const found = ended.current.get(id) ?? (await jobsOf(id, signal))
        if (found.length > 0 && found.every(({ status }) => status !== 'running')) ended.current.set(id, found)
        all.push(...found)
      }
      return new Map(all.map((job) => [job.job_id, job]))
    },
    [ids.join(' '), isOver],
    isOver ? {} : { everyMs: EVERY_MS },
  )
}

/** A wave names its run shortly before that is there. */
async function jobsOf(id: string, signal: AbortSignal): Promise<readonly Upgrade[]> {
  try {
    return (await readRun(id, signal)).jobs
  } catch (error) {
    if (error instanceof ApiError && error.code === 'run_missing') return []
    throw error
  }
}
