import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { readInstances, saveInstance } from '../../db/standing.ts'
import { timestamp } from '../../platform/clock.ts'
import { ownPlace } from '../../platform/program.ts'
import { proxiesSeen } from '../../platform/addresses.ts'
import { defineTask, type Services } from '../services.ts'
import { type InstanceFacts, instanceFactsFrom, type Named } from './standing-facts.ts'

/** A row is written again when it is older than this, so that others see that the instance is there. */
const AGAIN_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000
/** A proxy without a request for so many days is forgotten. */
const PROXY_DAYS = 7
const MOST_PROXIES = 16
/** Addresses of one name. */
const MOST_ADDRESSES = 16
const LOOKUP_MS = 5_000

/** Stores what this instance knows of its own place, for the findings about what the panel stands on. */
export default defineTask({
  name: 'note-standing',
  every: 60,

  async run({ db, config, settings, clock }) {
    const own = await ownPlace()
    const place = own ? `${own.boot}.${own.namespace}.${own.unit ?? ''}` : 'unknown'
    const now = clock()
    const former = (await readInstances(db)).find((row) => row.place === place)
    const known = instanceFactsFrom(former?.facts)
    const facts: InstanceFacts = {
      boot: own?.boot ?? null,
      namespace: own?.namespace ?? null,
      unit: own?.unit ?? null,
      proxies: proxiesOf(known?.proxies ?? [], proxiesSeen(config), now),
      database: await named(databaseHost(config), known?.database),
      ssh: await named(await sshHost(settings), known?.ssh),
    }
    const text = JSON.stringify(facts)
    const isFresh = former !== undefined && now.getTime() - Date.parse(former.seen_at) < AGAIN_MS
    if (isFresh && former.facts === text) return
    const gone = timestamp(new Date(now.getTime() - DAY_MS))
    await saveInstance(db, { place, facts: text, seen_at: timestamp(now) }, gone)
  },
})

/** Adds the proxies of new requests to the known ones, and leaves out the old ones. */
function proxiesOf(known: InstanceFacts['proxies'], seen: readonly string[], now: Date): InstanceFacts['proxies'] {
  const day = (at: Date) => timestamp(at).slice(0, 10)
  const oldest = day(new Date(now.getTime() - PROXY_DAYS * DAY_MS))
  const days = new Map(known.filter((each) => each.day > oldest).map(({ address, day: last }) => [address, last]))
  for (const address of seen) days.set(address, day(now))
  return [...days]
    .map(([address, last]) => ({ address, day: last }))
    .sort((one, other) => other.day.localeCompare(one.day) || one.address.localeCompare(other.address))
    .slice(0, MOST_PROXIES)
}

/** Returns the host of a database server; undefined for a file. */
function databaseHost({ databaseUrl }: Services['config']): string | undefined {
  if (databaseUrl.startsWith('file:') || !URL.canParse(databaseUrl)) return undefined
  // URL keeps the brackets of an IPv6 address.
  return new URL(databaseUrl).hostname.replace(/^\[(.*)\]$/, '$1') || undefined
}

async function sshHost(settings: Services['settings']): Promise<string | undefined> {
  return (await settings.hasSshHost()) ? (await settings.sshServer()).host : undefined
}

/** Looks up the addresses of a name. When that fails, those that it had count. */
async function named(name: string | undefined, known: Named | null | undefined): Promise<Named | null> {
  if (name === undefined) return null
  if (isIP(name) !== 0) return { name, addresses: [name] }
  const addresses = await addressesOf(name)
  return { name, addresses: addresses ?? (known?.name === name ? known.addresses : []) }
}

async function addressesOf(name: string): Promise<string[] | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), LOOKUP_MS).unref())
  const found = await Promise.race([lookup(name, { all: true }).catch(() => undefined), late])
  return found && [...new Set(found.map(({ address }) => address))].sort().slice(0, MOST_ADDRESSES)
}
