import * as z from 'zod'
import { startChild } from '../../bench/child.ts'

/** The accounts that sign in; the first one is an administrator. */
export const ACCOUNTS = Array.from({ length: 20 }, (_, at) => ({
  username: `soak-${at}`,
  password: `correct horse ${at}`,
}))

const FIRST_CONTAINER = 9000
const CONTAINERS = 60

/**
 * The targets of upgrades: many containers, because jobs of one target run one after another. Each container has two
 * names, because a target has one upgrade without a plan at a time: jobs of both names wait for each other.
 */
export const TARGETS = [
  'host',
  ...Array.from({ length: CONTAINERS }, (_, at) => FIRST_CONTAINER + at).flatMap((id) => [`lxc:${id}`, `lxc:0${id}`]),
] as const

export function isOwnContainer(id: string): boolean {
  return /^0?9\d{3}$/.test(id)
}

/** The first line of an upgrade's output, whose number identifies it in the stored output. */
export function runTitle(number: number): string {
  return `soak run ${number}`
}

const HostRun = z.object({
  number: z.number(),
  place: z.string(),
  /** The output in its stored form. */
  size: z.number(),
  sha256: z.string(),
  /** False when it was ended early. */
  whole: z.boolean(),
})
/** A command that the host ran, with its output. */
export type HostRun = z.infer<typeof HostRun>

export const HostQuestion = z.object({
  what: z.enum(['address', 'cut', 'refuse', 'accept', 'connections', 'runs']),
})

const HostAddress = z.object({ port: z.number(), hostKey: z.string(), username: z.string(), password: z.string() })

export interface SoakHost {
  address: z.infer<typeof HostAddress>
  /** Drops every connection; with `refuse` also new ones, until `accept`. */
  cut(): Promise<void>
  refuse(): Promise<void>
  accept(): Promise<void>
  connections(): Promise<number>
  /** Returns every command that it has run. */
  runs(): Promise<HostRun[]>
  stop(): Promise<void>
}

/** Starts the imitated host in a separate process, so that it outlives the service. */
export async function startHost(seed: number): Promise<SoakHost> {
  const child = await startChild('../test/soak/host-process.ts', { environment: { SOAK_SEED: String(seed) } })
  // One question at a time, because answers carry no number.
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
