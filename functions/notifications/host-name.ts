import type { Settings } from '../services.ts'

/** This machine: its address names no host to people. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i

/** The name of the host by which notices call it: its address in the settings without the port; undefined without one. */
export async function hostName(settings: Pick<Settings, 'show'>): Promise<string | undefined> {
  const { ssh_host } = await settings.show()
  const [name = ''] = /^(\[[^\]]*\]|[^:]*)/.exec(ssh_host) ?? []
  return name === '' || LOOPBACK.test(name) ? undefined : name
}
