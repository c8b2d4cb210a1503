import { type Change, type EndedTask, hasEndedWell, type Seen } from './api-changes.ts'
import type { ApiRequests } from './api-requests.ts'
import * as endpoints from './api-snapshots.ts'

/** Looks before a rollback is begun, two seconds in all. */
const LOOKS_BEFORE_ROLLBACK = 4
/** Looks at a container that was rolled back, for its start by the hypervisor, and after a start until it runs. */
const LOOKS_BEFORE_START = 10
const LOOKS_AFTER_START = 60

/** Returns a snapshot of the container; undefined where it has none of that name. */
export async function findSnapshot(requests: ApiRequests, place: endpoints.OnNode, snapshot: string) {
  return (await endpoints.listSnapshots(requests, place)).find(({ name }) => name === snapshot)
}

/** A container, one of its snapshots, and the time since which a task belongs to the change, in seconds since 1970. */
interface Of {
  place: endpoints.OnNode
  snapshot: string
  since: number
}

/** Makes a snapshot. */
export function snapshotChange({ place, snapshot, since }: Of): Change {
  return {
    type: 'vzsnapshot',
    since,
    async look(requests, ended) {
      const found = await findSnapshot(requests, place, snapshot)
      if (found?.whole) return 'done'
      if (ended) return reasonOfTask(ended, `the snapshot ${snapshot} is not there, although its task has ended`)
      if (found) return { reason: `the snapshot ${snapshot} is incomplete` }
      return (await endpoints.canSnapshot(requests, place)) ? 'begin' : { reason: 'snapshot feature is not available' }
    },
    begin: (requests) => endpoints.makeSnapshot(requests, place, snapshot),
  }
}

/** Removes a snapshot, which may be gone already. Of an incomplete one, the storage may have nothing. */
export function removalChange({ place, snapshot, since }: Of): Change {
  let isWhole = true
  return {
    type: 'vzdelsnapshot',
    since,
    async look(requests, ended) {
      const found = await findSnapshot(requests, place, snapshot)
      if (!found) return 'done'
      isWhole = found.whole
      return ended
        ? reasonOfTask(ended, `the snapshot ${snapshot} is still there, although its task has ended`)
        : 'begin'
    },
    begin: (requests) => endpoints.removeSnapshot(requests, place, snapshot, { force: !isWhole }),
  }
}

/** Goes back to a snapshot. */
export function rollbackChange({ place, snapshot, since }: Of): Change {
  let looks = 0
  return {
    type: 'vzrollback',
    since,
    async look(requests, ended) {
      if (ended) return hasEndedWell(ended) ? 'done' : reasonOfTask(ended, '')
      const found = await findSnapshot(requests, place, snapshot)
      if (!found?.whole) return { reason: `the snapshot ${snapshot} is not there, or not whole` }
      // A killed service may have asked for the task a moment ago. A second one would stop the container once more.
      looks += 1
      return looks > LOOKS_BEFORE_ROLLBACK ? 'begin' : 'wait'
    },
    begin: (requests) => endpoints.rollBack(requests, place, snapshot),
  }
}

/** The start after a rollback, which the hypervisor does by itself unless it is too old to. */
export function startChange({ place, since }: Of): Change {
  let looks = 0
  return {
    type: 'vzstart',
    since,
    async look(requests, ended) {
      if ((await endpoints.currentState(requests, place)).status === 'running') return 'done'
      looks += 1
      if (!ended) return looks > LOOKS_BEFORE_START ? 'begin' : 'wait'
      const isStarting = hasEndedWell(ended) && looks <= LOOKS_AFTER_START
      return isStarting ? 'wait' : reasonOfTask(ended, 'the container does not run after its start')
    },
    begin: (requests) => endpoints.startContainer(requests, place),
  }
}

/** Why a change has failed: what its task says, or `otherwise` where the task says that it has done it. */
function reasonOfTask(task: EndedTask, otherwise: string): Seen {
  if (hasEndedWell(task)) return { reason: otherwise }
  return { reason: task.exit_status ?? 'the task of the hypervisor has ended without a result' }
}
