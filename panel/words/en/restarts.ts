import type { restarts as fr } from '../fr/restarts.ts'

const some = (count: number) => (count === 1 ? '1 service' : `${count} services`)

export const restarts: typeof fr = {
  outdated: (count: number) =>
    count === 1
      ? '1 service still uses a file that an upgrade has replaced.'
      : `${count} services still use files that an upgrade has replaced.`,
  unseen: 'Not every process could be read: other services may need a restart too.',
  listOf: (name: string) => `Services to restart on ${name}`,
  sessionOf: (user: string) => `Session of ${user}`,
  theSessionOf: (user: string) => `the session of ${user}`,
  ofPackage: (name: string) => `former version of ${name}`,
  ofFile: (file: string) => `former file ${file}`,
  ofNeedrestart: 'reported by needrestart',
  ways: {
    session: 'The former code goes when this session ends.',
    container: 'Restarts only with the container.',
    reboot: 'Restarts only with the host.',
    none: 'Check this target again to know how to restart it.',
  },
  cuts: {
    panel: 'takes the panel away for a moment',
    host: 'cuts the way to the host for a moment',
    both: 'takes the panel and the way to the host away for a moment',
  },
  restart: 'Restart',
  restartOf: (service: string, target: string) => `Restart ${service} on ${target}`,
  services: some,
  restartMany: (count: number) => `Restart ${some(count)}`,
  byContainer: (count: number) => `${some(count)} ${count === 1 ? 'restarts' : 'restart'} only with the container.`,
  byHost: (count: number) =>
    `${some(count)} ${count === 1 ? 'restarts' : 'restart'} only with the host: the host needs a reboot.`,
  restartContainer: 'Restart the container',
  restartContainerOf: (name: string) => `Restart the container ${name}`,
  question: (what: string, target: string) => `Restart ${what} on ${target}?`,
  consequence: (count: number) =>
    count === 1
      ? 'It stops for a moment: its connections and the work that it does are cut off.'
      : 'One after another, they stop for a moment: their connections and the work that they do are cut off.',
  comesBack: 'The restart goes on without this page, which comes back by itself.',
  others: (count: number) => `All other services go on, except those that require ${count === 1 ? 'it' : 'them'}.`,
  stay: (names: string) => `Still with their former files: ${names}.`,
  names: (names, more) => new Intl.ListFormat('en-GB').format(more > 0 ? [...names, `${more} more`] : names),
  ends: {
    1: 'At least one service did not restart. The output says which.',
    64: 'A service has a name that nothing restarts: nothing was done.',
    65: 'One of these services, or another one that restarts with it, is never restarted alone: nothing was done. The output says which.',
    69: 'This target has no systemd: nothing was done.',
    75: 'systemd did not answer: nothing was done. Try again.',
  },
}
