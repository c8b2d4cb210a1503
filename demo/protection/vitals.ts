import { hasApt, type Place } from '../place.ts'
import { socket, unit, type Vital } from './vital.ts'

/** Every container has these, except that Alpine has no systemd. */
const ORDINARY: readonly Vital[] = [
  ...['cron', 'dbus', 'postfix@-', 'ssh', 'systemd-journald', 'systemd-logind', 'systemd-networkd'].map((name) =>
    unit(`${name}.service`),
  ),
  socket('tcp/22', 'sshd'),
  socket('tcp/25', 'master'),
]

/** Returns what one look at a place finds now. A vital that recovers after some looks has one look less afterwards. */
export function look(place: Place): Vital[] {
  const { vitals = [], damage = [] } = place
  const ordinary = hasApt(place) ? ORDINARY : ORDINARY.filter(({ kind }) => kind !== 'unit')
  const found = [...ordinary, ...vitals].flatMap((vital) => {
    const broken = damage.find(({ kind, name }) => kind === vital.kind && name === vital.name)
    if (!broken) return [vital]
    return broken.becomes === undefined ? [] : [{ ...vital, state: 'bad' as const, detail: broken.becomes }]
  })
  place.damage = damage.flatMap(({ looks, ...rest }) => {
    if (looks === undefined) return [rest]
    return looks > 1 ? [{ ...rest, looks: looks - 1 }] : []
  })
  return found
}

/** Breaks what the upgrade of a place breaks. */
export function breakBy(place: Place): void {
  if (place.breaks) place.damage = [...place.breaks]
}
