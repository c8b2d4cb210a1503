import { isIP } from 'node:net'
import * as z from 'zod'

const text = z.string()

/**
 * The facts that a target tells of itself: the boot id and the pid namespace that a process of it sees, its addresses,
 * those of the bridges of engines in it, and the pid namespaces of the containers in it. `container`: the number of an
 * LXC container, null for another kind. `engine`: whether a container engine, such as Docker, made the namespace.
 */
const TargetFacts = z.object({
  boot: text,
  namespace: text,
  addresses: z.array(text),
  bridges: z.array(text),
  inner: z.array(z.object({ namespace: text, container: text.nullable(), engine: z.boolean() })),
})
export type TargetFacts = z.infer<typeof TargetFacts>

/** A name that an instance was given, with its addresses. */
const Named = z.object({ name: text, addresses: z.array(text) })
export type Named = z.infer<typeof Named>

/**
 * The facts that an instance knows of its own place. `boot` and `namespace` are null where the system does not tell. `unit`: the
 * unit that it runs as. `proxies`: the trusted proxies in front of it, each with the day of its last request. `database`
 * and `ssh`: the servers that it connects to; null for none, such as a database that is a file.
 */
export const InstanceFacts = z.object({
  boot: text.nullable(),
  namespace: text.nullable(),
  unit: text.nullable(),
  proxies: z.array(z.object({ address: text, day: text })),
  database: Named.nullable(),
  ssh: Named.nullable(),
})
export type InstanceFacts = z.infer<typeof InstanceFacts>

/** Engines make bridges with the same addresses in every place: the address of one says something only to what runs there. */
const BRIDGE = /^(docker|br-[0-9a-f]|podman|cni|virbr|lxcbr|lxdbr|veth)/
/** Lines of one target. */
const MOST_LINES = 1_000
/** Addresses of one target; those of bridges are counted apart. */
const MOST_ADDRESSES = 64

/** Parses the section `standing` of an inspection (standing-script.ts); undefined without the line `place`. */
export function targetFactsOf(lines: readonly string[]): TargetFacts | undefined {
  let place: { boot: string; namespace: string } | undefined
  const addresses = new Set<string>()
  const bridges = new Set<string>()
  const inner = new Map<string, TargetFacts['inner'][number]>()
  for (const line of lines.slice(0, MOST_LINES)) {
    const [word, first = '', second = ''] = line.split(' ')
    const namespace = (label: string) => /^pid:\[(\d{1,20})\]$/.exec(label)?.[1]
    if (word === 'place') {
      const own = namespace(second)
      if (/^[0-9a-f-]{36}$/.test(first) && own !== undefined) place = { boot: first, namespace: own }
    } else if (word === 'address') {
      const [address = ''] = first.split('/')
      const known = BRIDGE.test(second) ? bridges : addresses
      // The zone of an address, after a percent sign, may have any length.
      if (isIP(address) !== 0 && !address.includes('%') && known.size < MOST_ADDRESSES) known.add(address)
    } else if (word === 'inner') {
      const own = namespace(first)
      if (own !== undefined) inner.set(own, { namespace: own, ...containerOf(line.slice(line.indexOf('/'))) })
    }
  }
  return place && { ...place, addresses: [...addresses], bridges: [...bridges], inner: [...inner.values()] }
}

/** Reads a control group: `/lxc/105/ns/system.slice/docker-….scope`, `/lxc.payload.105`, `/docker/…`. */
function containerOf(group: string): { container: string | null; engine: boolean } {
  return {
    container: /\/lxc(?:\/|\.payload\.)([1-9]\d{2,8})(?:\/|$)/.exec(group)?.[1] ?? null,
    engine: /\/(docker[-/]|libpod-|cri-containerd-)/.test(group),
  }
}

/** Parses stored facts of a target; those of another version are not known. */
export function targetFactsFrom(stored: string): TargetFacts | undefined {
  return TargetFacts.safeParse(JSON.parse(stored)).data
}

/** Parses stored facts of an instance; those of another version are not known. */
export function instanceFactsFrom(stored: string | undefined): InstanceFacts | undefined {
  return stored === undefined ? undefined : InstanceFacts.safeParse(JSON.parse(stored)).data
}

/** Whether it is an address of the machine that asks. */
export function isLoopback(address: string): boolean {
  return /^127\./.test(address) || address === '::1'
}
