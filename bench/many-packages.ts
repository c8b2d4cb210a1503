import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { onHost, RIG } from './host.ts'

/** Packages that are installed at 1.0 and offered at 2.0: as many as a release upgrade of a large host changes. */
export const UPGRADABLE = 1_500
/** Packages of one source. apt upgrades them together. */
const OF_SOURCE = 5
/** One source of so many needs a new package in version 2.0, another one is offered by the security repository. */
const NEEDS_NEW = 3
const IS_SECURITY = 3
/** One source of so many needs another source in the same version or a later one. */
const NEEDS_SAME = 4
/** Packages that are offered and not installed: Debian 12 has some 63,000 for one architecture. */
const OTHERS = 60_000

/** The name of an installed package, from 0 on. */
export function nameOf(n: number): string {
  return `librig-many-${n}`
}

/**
 * Runs a function while the host has `UPGRADABLE` more packages, each with a newer version, and repositories as large as
 * Debian's. They are in dpkg's status and in the indexes of two repositories alone, and there is no file of them but
 * their configuration files, because a simulation reads nothing else.
 */
export async function withManyPackages<result>(work: () => Promise<result>): Promise<result> {
  await onHost('sh', '-ec', BEGIN)
  try {
    const numbers = Array.from({ length: UPGRADABLE }, (_, n) => n)
    const isSecurity = (n: number) => sourceOf(n) % IS_SECURITY === 0
    await append('/var/lib/dpkg/status', numbers.map(installed))
    await append('/srv/rig/many-security/Packages', numbers.filter(isSecurity).map(offered))
    await append('/srv/rig/many-main/Packages', [
      ...numbers.filter((n) => !isSecurity(n)).map(offered),
      ...numbers.filter(needsNew).map((n) => stanza(newNameOf(n), { source: sourceOf(n), version: '2.0' })),
      ...Array.from({ length: OTHERS }, (_, n) => other(n)),
    ])
    await onHost('sh', '-ec', OFFER)
    return await work()
  } finally {
    await onHost('sh', '-ec', END)
  }
}

/** Offers one more security update, which cannot be installed because it needs a package that does not exist. */
export async function offerOneThatCannotBeInstalled(): Promise<void> {
  const name = 'librig-unmet'
  const installed = stanza(name, { version: '1.0', fields: ['Status: install ok installed'] })
  await append('/var/lib/dpkg/status', [installed])
  await append('/srv/rig/many-security/Packages', [stanza(name, { version: '2.0', depends: ['librig-nowhere'] })])
  await onHost('sh', '-ec', OFFER)
}

const BEGIN = `
mkdir -p /srv/rig/many-main /srv/rig/many-security /etc/rig-many
for n in $(seq 0 ${OF_SOURCE} ${UPGRADABLE - 1}); do echo "$n" >"/etc/rig-many/$n.conf"; done
cp -p /var/lib/dpkg/status /srv/rig/many-status`

const OFFER = `
for part in main security; do
  cd /srv/rig/many-$part
  {
    grep -v -e '^Date: ' -e '^SHA256:' -e '^ ' ../$part/Release
    printf 'Date: %s\\nSHA256:\\n' "$(LC_ALL=C date -Ru | sed 's/+0000/UTC/')"
    echo " $(sha256sum <Packages | cut -d' ' -f1) $(stat -c %s Packages) Packages"
  } >Release
done
printf 'deb [trusted=yes] file:/srv/rig/many-%s ./\\n' main security >/etc/apt/sources.list.d/rig-many.list
apt-get -qq update`

const END = `
[ ! -e /srv/rig/many-status ] || mv /srv/rig/many-status /var/lib/dpkg/status
rm -rf /srv/rig/many-main /srv/rig/many-security /etc/rig-many /etc/apt/sources.list.d/rig-many.list
apt-get -qq update`

/** Appends to a file of the host. */
async function append(path: string, stanzas: readonly string[]): Promise<void> {
  const child = spawn('bash', [RIG, 'in', 'host', 'sh', '-c', 'cat >>"$1"', 'append', path], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close')
  child.stdin.end(stanzas.join(''))
  const [code] = await ended
  if (code !== 0) throw new Error(`${path} could not be written: ${code}`)
}

const sourceOf = (n: number) => Math.floor(n / OF_SOURCE)
const isFirst = (n: number) => n % OF_SOURCE === 0
const needsNew = (n: number) => isFirst(n) && sourceOf(n) % NEEDS_NEW === 1
const newNameOf = (n: number) => `librig-new-${n}`

/** The dependencies of a package on the first packages of other sources, which were there before, so that there is no circle. */
function needs(n: number): string[] {
  const source = sourceOf(n)
  const others = new Set([source - 1, source - 1 - (n % OF_SOURCE), Math.floor(source / 3)])
  return [...others].filter((one) => one >= 0 && one < source).map((one) => `${nameOf(one * OF_SOURCE)} (>= 1.0)`)
}

function needsOfVersion(n: number, version: string): string[] {
  const source = sourceOf(n)
  if (!isFirst(n)) return [...needs(n), `${nameOf(source * OF_SOURCE)} (= ${version})`]
  const isTied = source > 0 && source % NEEDS_SAME === 0
  return isTied ? [...needs(n), `${nameOf(Math.floor(source / 2) * OF_SOURCE)} (>= ${version})`] : needs(n)
}

function installed(n: number): string {
  const sum = createHash('md5').update(`${n}\n`).digest('hex')
  const conffiles = isFirst(n) ? ['Conffiles:', ` /etc/rig-many/${n}.conf ${sum}`] : []
  const depends = needsOfVersion(n, '1.0')
  const fields = ['Status: install ok installed', ...conffiles]
  return stanza(nameOf(n), { source: sourceOf(n), version: '1.0', depends, fields })
}

function offered(n: number): string {
  const depends = [...needsOfVersion(n, '2.0'), ...(needsNew(n) ? [newNameOf(n)] : [])]
  return stanza(nameOf(n), { source: sourceOf(n), version: '2.0', depends })
}

function other(n: number): string {
  return stanza(`librig-other-${n}`, { version: '2.0', depends: needs(n % UPGRADABLE) })
}

interface Stanza {
  source?: number
  version: string
  depends?: readonly string[]
  /** The fields of a package that is installed; otherwise it has those of an offered one. */
  fields?: readonly string[]
}

/** The record of a package, with about as many bytes as Debian's have. */
function stanza(name: string, { source, version, depends = [], fields }: Stanza): string {
  const archive = [`Filename: ./${name}_${version}_amd64.deb`, 'Size: 123456', `SHA256: ${'0'.repeat(64)}`]
  return [
    `Package: ${name}`,
    ...(source === undefined ? [] : [`Source: rig-many-${source}`]),
    `Version: ${version}`,
    'Architecture: amd64',
    'Multi-Arch: same',
    'Priority: optional',
    'Section: libs',
    'Installed-Size: 412',
    'Maintainer: Rig Maintainers <rig-maintainers@lists.localhost>',
    ...(depends.length > 0 ? [`Depends: ${depends.join(', ')}`] : []),
    `Description: made-up package of the benchmark (${name})`,
    ' It stands for one of the many packages of a large host. Its description has as many bytes as',
    ' a description in Debian has, so that programs have as much to read as they have there.',
    'Homepage: https://rig.localhost/packages/of/the/benchmark',
    ...(fields ?? archive),
    '',
    '',
  ].join('\n')
}
