/** Whether a machine has to be restarted, with the reasons in the words of its packages or in French. */
export interface RebootNeed {
  required: boolean
  reasons: string[]
}

/**
 * Returns whether the host must be restarted: a package asked for it, or a newer kernel of the running flavour is
 * installed. `asked` has the lines of `/run/reboot-required.pkgs`, and is undefined without the marker file. `kernels`
 * has the running release, then the installed ones.
 */
export function rebootOf(asked: readonly string[] | undefined, kernels: readonly string[]): RebootNeed {
  const [running = '', ...installed] = kernels
  const newer = installed.filter((one) => flavourOf(one) === flavourOf(running) && compareKernels(one, running) > 0)
  const newest = newer.sort(compareKernels).at(-1)
  const reasons = asked?.slice(0, 100).map((line) => line.slice(0, 200)) ?? []
  if (newest !== undefined && installed.includes(running))
    reasons.push(`noyau ${newest.slice(0, 100)} installé, ${running.slice(0, 100)} en service`)
  return { required: asked !== undefined || reasons.length > 0, reasons }
}

/** Returns `pve` of `6.8.12-13-pve`, `cloud-amd64` of `6.12.48+deb13-cloud-amd64`. */
const flavourOf = (release: string) =>
  release
    .split('-')
    .slice(1)
    .filter((word) => /^[a-z]/.test(word) && !/^bpo/.test(word))
    .join('-')

function compareKernels(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => text.split(/[^\d]+/).map(Number))
  for (const [at, value] of (left ?? []).entries()) if (value !== (right?.[at] ?? 0)) return value - (right?.[at] ?? 0)
  return 0
}
