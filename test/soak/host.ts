import * as z from 'zod'
import { startChild } from '../../bench/child.ts'

/** Who signs in; the first one is an administrator. */
export const ACCOUNTS = Array.from({ length: 20 }, (_, at) => ({
  username: `soak-${at}`,
  password: `correct horse ${at}`,
}))

const FIRST_CONTAINER = 9000
const CONTAINERS = 60

/** What is upgraded: many containers, because jobs of one run one after another. */
export const TARGETS = [
  'host',
  ...Array.from({ length: CONTAINERS }, (_, at) => `lxc:${FIRST_CONTAINER + at}`),
] as const

export function isOwnContainer(id: string): boolean {
  return /^9\d{3}$/.test(id)
}

/** The first line that an upgrade prints: by its number it is found again in what was stored. */
export function runTitle(number: number): string {
  return `soak run ${number}`
}

const HostRun = z.object({
  number: z.number(),
  place: z.string(),
  /** Of what it printed, as it is to be stored. */
  size: z.number(),
  sha256: z.string(),
  /** False when it was ended before its end. */
  whole: z.boolean(),
})
/** One command that the host ran, and what it printed. */
export type HostRun = z.infer<typeof HostRun>

export const HostQuestion = z.object({
  what: z.enum(['address', 'cut', 'refuse', 'accept', 'connections', 'runs']),
})

const HostAddress = z.object({ port: z.number(), hostKey: z.string(), username: z.string(), password: z.string() })

export interface SoakHost {
  address: z.infer<typeof HostAddress>
  /** Drops every connection; with `refuse` new ones too, until `accept`. */
  cut(): Promise<void>
  refuse(): Promise<void>
  accept(): Promise<void>
  connections(): Promise<number>
  /** Every command that it has run. */
  runs(): Promise<HostRun[]>
  stop(): Promise<void>
}

/** Starts the imitated host in a process of its own, so that it outlives the service. */
export async function startHost(seed: number): Promise<SoakHost> {
  const child = await startChild('../test/soak/host-process.ts', { environment: { SOAK_SEED: String(seed) } })
  // One question at a time: answers carry no number.
  let last: Promise<unknown> = Promise.resolve()
  const ask = <answer>(schema: z.ZodType<answer>, what: z.infer<typeof HostQuestion>['what']): Promise<answer> => {
    const asked = last.then(() => child.ask(schema, { what }))
    last = asked.catch(() => {})
    return asked
  }
  const tell = async (what: 'cut' | 'refuse' | 'accept') => void (await ask(z.null(), what))
  return {
    address: await ask(HostAddress, 'address'),
    cut: () => tell('cut'),
    refuse: () => tell('refuse'),
    accept: () => tell('accept'),
    connections: () => ask(z.number(), 'connections'),
    runs: () => ask(z.array(HostRun), 'runs'),
    stop: child.stop,
  }
}
