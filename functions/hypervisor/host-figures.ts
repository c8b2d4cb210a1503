import * as z from 'zod'
import { checked } from '../../runtime/input.ts'
import { type Host, script, SshError, succeeded } from '../../ssh/ssh.ts'
import { IN_TIME } from './container.ts'

const count = z.number().int().nonnegative()

/** Usage figures of the host, in seconds and bytes. `mem` and `disk` are the used part of `maxmem` and `maxdisk`. */
export const HostFigures = z.object({
  hostname: z.string(),
  os: z.string(),
  kernel: z.string(),
  uptime: count,
  /** Load averages over 1, 5 and 15 minutes. */
  load: z.tuple([z.number(), z.number(), z.number()]),
  cpus: count.positive(),
  mem: count,
  maxmem: count,
  /** The disk figures are those of the root file system. */
  disk: count,
  maxdisk: count,
  reboot_required: z.boolean(),
  /** Whether dpkg was interrupted or left a package half installed. */
  dpkg_broken: z.boolean(),
})
export type HostFigures = z.infer<typeof HostFigures>

/** Output before this line comes from the account's start-up files. */
export const FIGURES_MARK = 'ops-panel figures'

/**
 * Writes that line and then one line each: name, os, kernel, seconds up, loads, cpus, memory as `<total> <available>`
 * and disk as `<total> <used>` in KiB, whether a reboot is required, whether dpkg is broken, and `end`. Needs no
 * rights. Kernel versions are not compared: the host's packages report a required reboot.
 */
export const FIGURES = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
echo '${FIGURES_MARK}'
uname -n
(
  PRETTY_NAME=
  for file in /usr/lib/os-release /etc/os-release; do [ ! -r "$file" ] || . "$file"; done
  echo "\${PRETTY_NAME:-$(uname -s)}"
)
uname -r
read -r up rest </proc/uptime
echo "\${up%%.*}"
read -r one five fifteen rest </proc/loadavg
echo "$one $five $fifteen"
getconf _NPROCESSORS_ONLN
total= available=
while read -r key value rest; do
  case $key in MemTotal:) total=$value ;; MemAvailable:) available=$value ;; esac
done </proc/meminfo
echo "$total $available"
df -Pk / | {
  read -r heading
  read -r device size used rest
  echo "$size $used"
}
if [ -e /run/reboot-required ] || [ -e /var/run/reboot-required ]; then echo yes; else echo no; fi
set -- /var/lib/dpkg/updates/[0-9]*
if [ -e "$1" ] || [ -n "$(dpkg --audit 2>/dev/null)" ]; then echo yes; else echo no; fi
echo end
`

/** Rejects with an SshError when the host does not answer or its answer is unreadable. */
export async function readFigures(host: Host, user: number): Promise<HostFigures> {
  const command = script(FIGURES, 'ops-panel-figures')
  return parseFigures(succeeded(await host.exec(command, { ...IN_TIME, user })))
}

const LINES = 11

export function parseFigures(text: string): HostFigures {
  const lines = text.split('\n').map((line) => line.trim())
  const told = lines.slice(lines.lastIndexOf(FIGURES_MARK) + 1).slice(0, LINES)
  const [hostname, os, kernel, uptime, load, cpus, memory, disk, reboot, dpkg, end] = told
  const [maxmem = Number.NaN, available = Number.NaN] = kibibytes(memory)
  const [maxdisk, usedDisk] = kibibytes(disk)
  const figures = checked(HostFigures, {
    hostname,
    os,
    kernel,
    uptime: figure(uptime),
    load: load?.split(' ').map(figure),
    cpus: figure(cpus),
    mem: maxmem - available,
    maxmem,
    disk: usedDisk,
    maxdisk,
    reboot_required: flag(reboot),
    dpkg_broken: flag(dpkg),
  })
  if (figures.success && end === 'end' && lines.includes(FIGURES_MARK)) return figures.data
  const [issue] = figures.success ? [] : figures.error.issues
  throw new SshError('lost', `l’état de l’hôte est illisible (${issue?.path.join('.') || 'fin'})`)
}

/** Rejects an empty text, which `Number` converts to 0. */
function figure(text = ''): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
}

function kibibytes(text = ''): number[] {
  return text.split(' ').map((word) => figure(word) * 1024)
}

function flag(text = ''): boolean | undefined {
  return text === 'yes' ? true : text === 'no' ? false : undefined
}
