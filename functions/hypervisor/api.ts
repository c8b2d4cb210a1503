import { Failure } from '../../runtime/errors.ts'
import { type ErrorCode, fail } from '../services.ts'
import { findNode, hasRight, listOfNode } from './api-containers.ts'
import { withApi } from './api-requests.ts'
import { nodeNamed } from './api-snapshots.ts'
import { act, nodeOfTask, readTask } from './api-tasks.ts'
import type { ContainerAction, ContainerTask } from './container-task.ts'
import { type Container, startable } from './container.ts'
import type { HypervisorAccess } from './settings.ts'

/** Errors of every request to the API. */
export const API_ERRORS = [
  'hypervisor_unreachable',
  'hypervisor_certificate',
  'hypervisor_in_clear',
  'hypervisor_unauthorized',
  'hypervisor_forbidden',
  'hypervisor_node_unknown',
  'hypervisor_refused',
  'hypervisor_unreadable',
  'container_locked',
  'hypervisor_token_unreadable',
] as const satisfies readonly ErrorCode[]

/**
 * Returns the containers of this host from the hypervisor's API. This function and those below take ten seconds at
 * most.
 */
export function containersByApi(access: HypervisorAccess): Promise<Container[]> {
  return withApi(access, async (requests) => listOfNode(requests, await findNode(requests, access.url)))
}

/**
 * Starts an action on a container of this host and returns the task's id. Fails with `container_missing` when no
 * container has the number. Awaits `announce` before it sends the request to the hypervisor.
 */
export function actByApi(
  access: HypervisorAccess,
  vmid: string,
  action: ContainerAction,
  announce: () => Promise<void>,
): Promise<string> {
  return withApi(access, async (requests) => {
    const node = await findNode(requests, access.url)
    const number = startable(await listOfNode(requests, node), vmid)
    await announce()
    return act(requests, node, number, action)
  })
}

/** Returns a task of the hypervisor. Fails with `job_missing` when there is no such task. */
export function taskByApi(access: HypervisorAccess, task: string): Promise<ContainerTask> {
  const node = nodeOfTask(task)
  if (node === undefined) throw fail('job_missing')
  return withApi(access, (requests) => readTask(requests, node, task))
}

/** A line of the `doctor` command, and whether all is well. */
interface ApiCheck {
  ok: boolean
  /** Whether the service works without it. */
  optional?: boolean
  message: string
}

/** Checks the API for the `doctor` command. */
export async function checkApi(access: HypervisorAccess): Promise<ApiCheck> {
  try {
    return await withApi(access, async (requests) => {
      const node = await findNode(requests, access.url)
      const { length } = await listOfNode(requests, node)
      const answers = `L’hyperviseur répond : ${length} conteneur${length > 1 ? 's' : ''} sur ${node}`
      if (await hasRight(requests, 'VM.PowerMgmt')) return { ok: true, message: `${answers}.` }
      return { ok: false, message: `${answers}, mais le jeton ne peut ni les démarrer ni les arrêter (VM.PowerMgmt).` }
    })
  } catch (error) {
    if (error instanceof Failure) return { ok: false, message: error.message }
    throw error
  }
}

/**
 * Checks whether the steps on snapshots can be done by the API, for the `doctor` command: for a host of that name, whose
 * account may not run `pct snapshot`. Returns nothing where the API itself does not work, which `checkApi` tells.
 */
export async function checkApiSnapshots(access: HypervisorAccess, hostname: string): Promise<ApiCheck[]> {
  try {
    return await withApi(access, async (requests) => {
      const by = 'les instantanés avant les mises à jour passent par l’API de l’hyperviseur'
      const lacks = (message: string): ApiCheck => ({ ok: false, optional: true, message })
      if ((await nodeNamed(requests, hostname)) === undefined)
        return [
          lacks(
            `Sans règle sudo pour pct snapshot, ${by}, mais aucun de ses nœuds n’a le nom de l’hôte (${hostname}).`,
          ),
        ]
      if (!(await hasRight(requests, 'VM.Snapshot')))
        return [lacks(`Sans règle sudo pour pct snapshot, ${by}, mais le jeton n’en a pas le droit (VM.Snapshot).`)]
      const room = lacks('Le jeton n’a pas Datastore.Audit : un pool presque plein n’est pas vu avant un instantané.')
      const isSeen = await hasRight(requests, 'Datastore.Audit')
      return [{ ok: true, message: `Sans règle sudo pour pct snapshot, ${by}.` }, ...(isSeen ? [] : [room])]
    })
  } catch (error) {
    if (error instanceof Failure) return []
    throw error
  }
}
