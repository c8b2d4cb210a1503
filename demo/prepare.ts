import { ApiError, createPanel } from '../client/index.ts'
import type { DemoHypervisor } from './hypervisor.ts'

/**
 * Sets up the demo as an administrator would (the hypervisor's API, shortcuts, one container that is rolled back by
 * itself, a schedule) and starts an upgrade.
 */
export async function prepare(
  url: string,
  { url: hypervisor_url, token: hypervisor_token }: DemoHypervisor,
): Promise<void> {
  const panel = createPanel({ url, WebSocket: false })
  await panel.signIn('demo', 'demo')
  const shortcuts = [
    { label: 'Proxmox VE', href: 'https://pve.example:8006' },
    { label: 'Documentation de l’API', href: '/api/docs' },
  ]
  await panel.api('PATCH /api/settings', {
    body: { hypervisor_url, hypervisor_token, dashboard_shortcuts: JSON.stringify(shortcuts) },
  })
  await panel.api('POST /api/updates/run', { body: { target: 'lxc:104' } })
  // The panel knows a container once it has listed them.
  const targets = await panel.api('GET /api/updates/targets')
  if (targets.some(({ id }) => id === 'lxc:115')) {
    const { default: policy } = await panel.api('GET /api/updates/protection')
    await panel.api('PUT /api/updates/protection/{target}', {
      params: { target: 'lxc:115' },
      body: { ...policy, on_failure: 'rollback' },
    })
    await panel.api('POST /api/schedules', { body: SUNDAY })
  }
  await panel.signOut()
}

/** A schedule that is tried at once with « run now ». */
const SUNDAY = {
  name: 'Nuit du dimanche',
  cron: '0 3 * * 0',
  timezone: 'Europe/Paris',
  window_minutes: 180,
  action: 'upgrade' as const,
  only: 'security' as const,
  waves: [
    { targets: ['tag:test'], pause_minutes: 0 },
    { targets: ['tag:prod'], pause_minutes: 0 },
  ],
}

export function explainPreparation(error: unknown): string {
  return error instanceof ApiError ? `${error.code} : ${error.message}` : String(error)
}
