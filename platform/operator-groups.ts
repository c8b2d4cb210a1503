/** All targets, or some by their ids (`host`, `lxc:101`). */
export type GroupTargets = 'all' | readonly string[]

/** Ids in all lists together: an access token carries those of its user, and a header has 16 KiB. */
const MOST_TARGETS = 200

/**
 * Reads groups with the targets on which their members work: `web:lxc/101,lxc/102;db:host;ops`. A group without targets
 * works on all of them; such groups may also be separated by commas, as in the lists of other groups. Returns undefined
 * for any other text.
 */
export function operatorGroups(text: string): ReadonlyMap<string, GroupTargets> | undefined {
  const groups = new Map<string, GroupTargets>()
  for (const part of text.split(';')) {
    const [names = '', list, ...rest] = part.split(':').map((each) => each.trim())
    const targets = list?.split(',').map(targetOf)
    if (rest.length > 0 || targets?.includes(undefined) || (targets && names.includes(','))) return undefined
    for (const name of names.split(',').map((each) => each.trim())) {
      if (name === '' && targets) return undefined
      if (name !== '')
        groups.set(
          name,
          joined(
            groups.get(name),
            targets?.filter((each) => each !== undefined),
          ),
        )
    }
  }
  const count = [...groups.values()].reduce((sum, each) => sum + (each === 'all' ? 0 : each.length), 0)
  return count > MOST_TARGETS ? undefined : groups
}

/** The targets of a group that is named again are those of all its mentions. */
function joined(before: GroupTargets | undefined, more: readonly string[] | undefined): GroupTargets {
  if (!more || before === 'all') return 'all'
  return [...new Set([...(before ?? []), ...more])]
}

function targetOf(text: string): string | undefined {
  const [, host, vmid] = /^\s*(?:(host)|lxc\/([1-9]\d{0,8}))\s*$/.exec(text) ?? []
  return host ?? (vmid && `lxc:${vmid}`)
}
