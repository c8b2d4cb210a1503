/** Something that a look at the health of a place prints: a unit, a listening socket, or a container of an engine. */
export interface Vital {
  kind: 'unit' | 'socket' | 'docker' | 'podman'
  name: string
  state: 'good' | 'bad'
  /** `active running`, a process, `running`; of a bad one, what became of it. */
  detail: string
}

/** A change for the worse that the upgrade of a place makes to one of its vitals. */
export interface Breakage {
  kind: Vital['kind']
  name: string
  /** The detail of what is there and bad. Without it the vital is gone. */
  becomes?: string
  /** The number of looks until it is well again by itself; without it, it stays so. */
  looks?: number
}

/** A unit that runs. */
export function unit(name: string): Vital {
  return { kind: 'unit', name, state: 'good', detail: 'active running' }
}

/** A port at which a process listens, such as `tcp/443`. */
export function socket(name: string, process: string): Vital {
  return { kind: 'socket', name, state: 'good', detail: process }
}

/** Containers of Docker that run, and the daemon. */
export function docker(...names: readonly string[]): Vital[] {
  const running = names.map((name): Vital => ({ kind: 'docker', name, state: 'good', detail: 'running' }))
  return [unit('containerd.service'), unit('docker.service'), DAEMON, ...running]
}

const DAEMON: Vital = { kind: 'docker', name: '(daemon)', state: 'good', detail: '-' }
