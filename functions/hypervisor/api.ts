import { Failure } from '../../runtime/errors.ts'
import { type ErrorCode, fail } from '../services.ts'
import { findNode, hasRight, listOfNode } from './api-containers.ts'
import { withApi } from './api-requests.ts'
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

/** Checks the API for the `doctor` command: one line of text, and whether all is well. */
export async function checkApi(access: HypervisorAccess): Promise<{ ok: boolean; message: string }> {
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
