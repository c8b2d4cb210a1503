import { createHash } from 'node:crypto'
import * as z from 'zod'

/*
 * The policy of an upgrade of a container: the snapshot or backup before it, the comparison of the container's health
 * before and after it, and the treatment of a regression.
 */

/** Longest word of a command, in characters. */
const WORD = 500

/** Longest name of a unit; a health line names it with its kind. */
const UNIT = 190

/** Whether an address has the name or the password of an account. Zod asks this of texts, too, that are no addresses. */
function hasAccount(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username !== '' || password !== ''
}

const Http = z.strictObject({
  kind: z.literal('http'),
  url: z
    .url({ protocol: /^https?$/, error: 'une adresse http:// ou https://' })
    .max(2_000)
    .refine((text) => !hasAccount(text), 'une adresse sans compte'),
  status: z.int().min(100).max(599),
})

const Tcp = z.strictObject({ kind: z.literal('tcp'), port: z.int().min(1).max(65_535) })

const Unit = z.strictObject({
  kind: z.literal('unit'),
  name: z
    .string()
    .max(UNIT)
    .regex(/^[A-Za-z0-9:_.@][A-Za-z0-9:_.\\@-]*$/, 'le nom d’une unité de systemd'),
})

const Command = z.strictObject({
  kind: z.literal('command'),
  command: z
    .array(
      z
        .string()
        .max(WORD)
        .regex(/^[^\0]+$/, 'un mot sans caractère nul'),
    )
    .min(1)
    .max(20),
})

/**
 * A question about a container whose answer is compared before and after an upgrade. `http` is asked by the service;
 * `tcp`, `unit` and `command` inside the container.
 */
export const Probe = z.discriminatedUnion('kind', [Http, Tcp, Unit, Command])
export type Probe = z.infer<typeof Probe>

/** Characters of all commands of a policy: they share the 128 KiB of one argument with the names of a plan. */
const COMMANDS = 2_000

function lengthOf(probes: readonly Probe[]): number {
  const words = probes.flatMap((probe) => (probe.kind === 'command' ? probe.command : []))
  return words.reduce((length, word) => length + word.length, 0)
}

/** The name of a storage as Proxmox accepts it. */
export const STORAGE_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,98}[A-Za-z0-9]$/

/**
 * - `before`: what is made before the upgrade; `auto` is a snapshot where the storage can take one, else nothing.
 * - `backup_storage`: the storage for backups; null chooses the first one that takes them.
 * - `keep`: how many snapshots of the panel a container keeps, and how many backups.
 * - `on_failure`: what becomes of an upgrade with a regression.
 * - `settle_seconds`: the pause between the upgrade and the second look.
 */
export const Protection = z
  .strictObject({
    before: z.enum(['auto', 'snapshot', 'backup', 'none']),
    backup_storage: z.string().regex(STORAGE_NAME, 'le nom d’un stockage').nullable(),
    keep: z.int().min(1).max(20),
    on_failure: z.enum(['rollback', 'ask', 'keep']),
    settle_seconds: z.int().min(5).max(900),
    probes: z
      .array(Probe)
      .max(10)
      .refine((probes) => lengthOf(probes) <= COMMANDS, `au plus ${COMMANDS} caractères dans toutes les commandes`),
  })
  .meta({ id: 'Protection' })
export type Protection = z.infer<typeof Protection>

/** The policy of a container until somebody sets another one. */
export const DEFAULT_PROTECTION: Protection = {
  before: 'auto',
  backup_storage: null,
  keep: 3,
  on_failure: 'ask',
  settle_seconds: 60,
  probes: [],
}

/**
 * A policy as the audit log has it. The words of a command and the query of an address may be secrets: of a command it has
 * a digest, by which two of them can be compared.
 */
export function forAudit({ probes, ...policy }: Protection): object {
  return { ...policy, probes: probes.map(probeForAudit).join(', ') }
}

function probeForAudit(probe: Probe): string {
  switch (probe.kind) {
    case 'http': {
      const { origin, pathname } = new URL(probe.url)
      return `http ${origin}${pathname} ${probe.status}`
    }
    case 'tcp':
      return `tcp ${probe.port}`
    case 'unit':
      return `unit ${probe.name}`
    case 'command':
      return `command ${createHash('sha256').update(JSON.stringify(probe.command)).digest('hex').slice(0, 12)}`
  }
}
