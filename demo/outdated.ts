import type { Place } from './place.ts'
import type { Plan } from './plan.ts'

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
