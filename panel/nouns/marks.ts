/**
 * Lines with which the service’s own programs on a host tell something to the service. They stand in the output, and mean nothing to people.
 */
const MARKS = [
  [/^ops-panel-plan: (apt|apk|dnf|zypper|pacman) does exactly what was planned\.$/, 'agrees'],
  [/^ops-panel-plan: this plan was made for another package manager than (\S+)\.$/, 'otherManager'],
  [/^ops-panel-plan: this plan was made for apt, and the package manager is (\S+)\.$/, 'otherManager'],
  [/^ops-panel-plan differs$/, 'differs'],
  [/^ops-panel-plan end$/, 'unchanged'],
  [/^ops-panel-plan: (\S+) is the new version; the former one is (\S+)\.$/, 'taken'],
  [/^ops-panel-plan: (\S+) stays as it is; the new version could not be put in its place\.$/, 'notTaken'],
  [/^ops-panel: rolling back to (\S+)$/, 'rollingBack'],
  [/^ops-panel: no snapshot: (.+)$/, 'noSnapshot'],
  [/^ops-panel-[0-9a-f]{16,64} end (\S+)$/, 'end'],
  [/^ops-panel-[0-9a-f]{16,64} (\S+) \d+$/, 'part'],
] as const satisfies readonly (readonly [RegExp, string])[]

/** The words for each mark, which get the texts that the mark contains. */
export type MarkWords = Readonly<Record<(typeof MARKS)[number][1], (...of: string[]) => string>>

/** Returns the words for a mark; undefined for every other line. */
export function markSaid(line: string, say: MarkWords): string | undefined {
  if (!line.startsWith('ops-panel')) return undefined
  for (const [pattern, name] of MARKS) {
    const found = pattern.exec(line)
    if (found) return say[name](...found.slice(1))
  }
  return undefined
}
