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
