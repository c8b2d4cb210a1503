import { type ErrorCode, Failure } from '../../runtime/errors.ts'
import type { HypervisorAccess } from '../../runtime/hypervisor-access.ts'
import { findNode, hasRight, listOfNode } from './api-containers.ts'
import { withApi } from './api-requests.ts'
import { act, nodeOfTask, readTask } from './api-tasks.ts'
import { type Container, startable } from './container.ts'
import type { ContainerAction, ContainerTask } from './container-task.ts'

/** What any question to the API may come to. */
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

/** The containers of this host, as the hypervisor's API tells them. Each of these takes ten seconds at most. */
export function containersByApi(access: HypervisorAccess): Promise<Container[]> {
  return withApi(access, async (requests) => listOfNode(requests, await findNode(requests, access.url)))
}

/**
 * Has a container of this host do something; the task that does it. `container_missing` when there is none by that
 * number. `announce` is called, and awaited, before the hypervisor is told to do it.
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

/** A task of the hypervisor. `job_missing` when there is none by that name. */
export function taskByApi(access: HypervisorAccess, task: string): Promise<ContainerTask> {
  const node = nodeOfTask(task)
  if (node === undefined) throw new Failure('job_missing')
  return withApi(access, (requests) => readTask(requests, node, task))
}

/** One line for who looks whether all is well, and whether it is. */
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
