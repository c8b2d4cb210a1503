import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { authorizedLine } from '../../ssh/ssh.ts'
import { EXAMPLE_SHORTCUTS } from '../dashboard/shortcuts.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/settings',
  summary: 'Settings',
  description:
    'Returns how the service reaches its host, and how it checks targets. For a secret it returns only whether one is set.',
  auth: 'admin',
  rateLimit: READS,
  response: z.object({
    ssh_host: z.string(),
    ssh_username: z.string(),
    ssh_password_set: z.boolean(),
    ssh_key_set: z.boolean(),
    ssh_public_key: z.string().meta({ description: 'The public key of the service account; empty without a key.' }),
    ssh_authorized_key: z
      .string()
      .meta({ description: 'Its line for `authorized_keys`; a line on the host may have more options.' }),
    ssh_key_next_set: z.boolean().meta({ description: 'Whether a new key waits until the host has it.' }),
    ssh_next_authorized_key: z.string().meta({ description: 'The line of the key that waits; empty without one.' }),
    ssh_key_retired: z
      .string()
      .meta({ description: 'Public keys, one a line, that are not used any more but may still be on the host.' }),
    ssh_host_key: z.string(),
    hypervisor_url: z.string(),
    hypervisor_token_set: z.boolean(),
    hypervisor_fingerprint: z.string(),
    forge_url: z.string(),
    forge_org: z.string(),
    forge_token_set: z.boolean(),
    forge_fingerprint: z.string(),
    forge_environment: z
      .object({ url: z.string(), org: z.string(), token_set: z.boolean() })
      .nullable()
      .meta({ description: 'The forge that the environment gives, for what is not stored; null without one.' }),
    checks_automatic: z.string(),
    checks_parallel: z.string(),
    dashboard_shortcuts: z.string(),
  }),
  example: {
    response: {
      ssh_host: 'pve1.example',
      ssh_username: 'panel',
      ssh_password_set: true,
      ssh_key_set: false,
      ssh_public_key: '',
      ssh_authorized_key: '',
      ssh_key_next_set: false,
      ssh_next_authorized_key: '',
      ssh_key_retired: '',
      ssh_host_key: 'SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc',
      hypervisor_url: 'https://pve1.example:8006',
      hypervisor_token_set: false,
      hypervisor_fingerprint: '',
      forge_url: 'https://forge.example',
      forge_org: 'panel-modules',
      forge_token_set: true,
      forge_fingerprint: '',
      forge_environment: null,
      checks_automatic: 'on',
      checks_parallel: '6',
      dashboard_shortcuts: EXAMPLE_SHORTCUTS,
    },
  },

  async handler(_, { settings, config: { forge } }) {
    const { current, next } = await settings.sshKeys()
    return {
      ...(await settings.show()),
      forge_environment: forge ? { url: forge.url, org: forge.org, token_set: forge.token !== undefined } : null,
      ssh_public_key: current?.publicKey ?? '',
      ssh_authorized_key: current ? authorizedLine(current) : '',
      ssh_next_authorized_key: next ? authorizedLine(next) : '',
    }
  },
})
