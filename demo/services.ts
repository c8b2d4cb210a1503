import type { Place } from './place.ts'
import type { Plan } from './plan.ts'

/** The main process of a service that was not restarted yet. */
const FIRST_PID = 412

/** The main processes of restarted services. */
const processes = new WeakMap<Place, Map<string, number>>()
let lastPid = 20_000

/** The services that have loaded a file of an upgraded package go on with the former one. */
export function outdateBy(place: Place, { upgrades }: Plan): void {
  const { loads = [], services = [] } = place
  const found = loads.filter(({ name, from }) => {
    return upgrades.some((one) => one.name === from) && !services.some((known) => known.name === name)
  })
  if (found.length > 0) place.services = [...services, ...found]
}

/** A place that has just started runs the newest files. */
export function startAfresh(place: Place): void {
  delete place.services
}

/** Returns the main process of a service, as lists and the output of a restart show it. */
export function mainPid(place: Place, service: string): number {
  return processes.get(place)?.get(service) ?? FIRST_PID
}

/** Gives a service another main process, which runs the newest files, and returns it. */
export function restartService(place: Place, service: string): number {
  lastPid += 7
  processes.set(place, new Map([...(processes.get(place) ?? []), [service, lastPid]]))
  place.services = place.services?.filter(({ name }) => name !== service) ?? []
  return lastPid
}
