import { ApiError, createPanel } from '../client/index.ts'
import type { DemoHypervisor } from './hypervisor.ts'

/** Sets up the demo as an administrator would (the hypervisor's API, shortcuts) and starts an upgrade. */
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
  await panel.signOut()
}

export function explainPreparation(error: unknown): string {
  return error instanceof ApiError ? `${error.code} : ${error.message}` : String(error)
}
