import * as z from 'zod'
import { mayRead } from '../../runtime/access.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { API_ERRORS, containersByApi } from './api.ts'
import { Container, IN_TIME, withoutFigures } from './container.ts'
import { listContainers } from './pct.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/containers',
  summary: 'Containers',
  description:
    'Lists the containers of the host: with figures from the hypervisor’s API if the service has a token for it, otherwise as the container tool lists them.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  response: z.array(Container),
  example: {
    response: [
      {
        vmid: 101,
        name: 'web',
        status: 'running',
        lock: null,
        cpu: 0.01,
        cpus: 2,
        mem: 74_940_416,
        maxmem: 536_870_912,
        disk: 838_225_920,
        maxdisk: 8_589_934_592,
        uptime: 81_418,
        tags: ['prod'],
      },
    ],
  },
  errors: [...API_ERRORS, 'ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed', 'host_answer_too_long'],

  async handler(_, { user, host, settings }) {
    const access = await settings.hypervisor()
    const isSeen = ({ vmid }: Container) => mayRead(user, `lxc:${vmid}`)
    if (access) return (await containersByApi(access)).filter(isSeen)
    await settings.sshAccount()
    return (await listContainers(host, { ...IN_TIME, user: user.id })).map(withoutFigures).filter(isSeen)
  },
})
