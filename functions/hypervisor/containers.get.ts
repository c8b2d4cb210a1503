import * as z from 'zod'
import { defineFunction, READS } from '../../runtime/function.ts'
import { listContainers } from '../updates/containers.ts'
import { API_ERRORS, containersByApi } from './api.ts'
import { Container, IN_TIME, withoutFigures } from './container.ts'

/**
 * The containers of the host: with figures from the hypervisor's API when there is a token, else as the container tool
 * lists them.
 */
export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/containers',
  auth: 'user',
  rateLimit: READS,
  response: z.array(Container),
  errors: [...API_ERRORS, 'ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed'],

  async handler(_, { host, settings }) {
    const access = await settings.hypervisor()
    if (access) return containersByApi(access)
    await settings.sshAccount()
    return (await listContainers(host, IN_TIME)).map(withoutFigures)
  },
})
