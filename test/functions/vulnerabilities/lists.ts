import { deflateSync } from 'node:zlib'

/** A list as Debian's security tracker publishes it, of these lines of vulnerabilities and packages. */
export function debsecanList(names: readonly string[], packages: readonly string[]): Buffer {
  const plain = ['VERSION 1', ...names.map((name) => `${name},,A flaw, with a comma`), '', ...packages, '']
  return deflateSync(`${[...plain, 'openssl,libssl3 openssl'].join('\n')}\n\n`)
}

/** The parts that matter of CISA's list. */
export function exploitedList(ids: readonly string[]): string {
  return JSON.stringify({ title: 'CISA Catalog', vulnerabilities: ids.map((cveID) => ({ cveID, vendorProject: 'x' })) })
}

/** A list as Alpine's security database publishes it: of each package, the vulnerabilities by the version that fixes them. */
export function secdbList(packages: Record<string, Record<string, readonly string[]>>): Buffer {
  const entries = Object.entries(packages).map(([name, secfixes]) => ({ pkg: { name, secfixes } }))
  return Buffer.from(
    JSON.stringify({ apkurl: '{{urlprefix}}/{{distroversion}}', archs: ['x86_64'], packages: entries }),
  )
}

/** A list as Arch's security tracker publishes it. */
export function trackerList(
  groups: readonly {
    packages: readonly string[]
    fixed: string | null
    issues: readonly string[]
    status?: string
    severity?: string
  }[],
): Buffer {
  const entries = groups.map((group, at) => ({
    name: `AVG-${at + 1}`,
    status: 'Fixed',
    severity: 'Medium',
    type: 'multiple issues',
    affected: '1-1',
    ticket: null,
    advisories: [],
    ...group,
  }))
  return Buffer.from(JSON.stringify(entries))
}
