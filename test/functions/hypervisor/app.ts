import { writeSettings } from '../../../db/settings.ts'
import actionOf from '../../../functions/hypervisor/action.post.ts'
import containersOf from '../../../functions/hypervisor/containers.get.ts'
import taskOf from '../../../functions/hypervisor/task.get.ts'
import type { SettingValues } from '../../../functions/services.ts'
import { START, testApp } from '../../app.ts'
import type { TestHypervisor } from '../../hypervisor.ts'

export const CONTAINERS = '/api/hypervisor/containers'
export const action = (vmid: number | string, name: string) => `${CONTAINERS}/${vmid}/${name}`
export const task = (id: string) => `/api/hypervisor/tasks/${encodeURIComponent(id)}`

/** The functions of containers and their tasks, with the settings for that hypervisor, or without one. */
export async function hypervisorApp(
  hypervisor: TestHypervisor | undefined,
  settings: SettingValues = {},
  options: Parameters<typeof testApp>[1] = {},
) {
  const app = await testApp([containersOf, actionOf, taskOf], options)
  await app.services.settings.change({
    ...(hypervisor && {
      hypervisor_url: hypervisor.url,
      hypervisor_token: hypervisor.token,
      hypervisor_fingerprint: hypervisor.fingerprint,
    }),
    ...settings,
  })
  return {
    ...app,
    list: () => app.request('GET', CONTAINERS, { as: 'user' }),
    act: (vmid: number | string, name: string) => app.request('POST', action(vmid, name), { as: 'admin' }),
    task: (id: string) => app.request('GET', task(id), { as: 'admin' }),
    /** As if another key had sealed the token. */
    breakToken: () => writeSettings(app.db, { hypervisor_token: 'v1.AAAA' }, START.toISOString()),
  }
}
