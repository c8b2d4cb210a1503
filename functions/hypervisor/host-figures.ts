import * as z from 'zod'
import { checked } from '../../runtime/input.ts'
import { type Host, script, SshError, succeeded } from '../../ssh/ssh.ts'
import { IN_TIME } from './container.ts'
import { rebootOf } from './reboot-reasons.ts'

const count = z.number().int().nonnegative()

/** The id that Linux gives to each boot. */
export const BootId = z.string().regex(/^[0-9a-f-]{36}$/)

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
  /** The reasons for a reboot: names of packages that ask for one, and a newer kernel. Packages may give no name. */
  reboot_reasons: z.array(z.string()),
  /** The id of the host's present boot; every boot has another one. */
  boot_id: BootId,
  /** Whether dpkg was interrupted or left a package half installed. */
  dpkg_broken: z.boolean(),
})
export type HostFigures = z.infer<typeof HostFigures>

/** Output before this line comes from the account's start-up files. */
export const FIGURES_MARK = 'ops-panel figures'

/**
 * Writes that line and then one line each: name, os, kernel, seconds up, loads, cpus, memory as `<total> <available>`
 * and disk as `<total> <used>` in KiB, whether packages ask for a reboot, whether dpkg is broken, the boot id; then a
 * line `asked <package>` for each of those packages, a line `kernel <release>` for each installed kernel, and `end`.
 * Needs no rights.
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
if [ -e /run/reboot-required ]; then echo yes; else echo no; fi
set -- /var/lib/dpkg/updates/[0-9]*
if [ -e "$1" ] || [ -n "$(dpkg --audit 2>/dev/null)" ]; then echo yes; else echo no; fi
cat /proc/sys/kernel/random/boot_id
[ ! -e /run/reboot-required ] || head -c 65536 /run/reboot-required.pkgs 2>/dev/null | sort -u | head -n 100 | sed 's/^/asked /'
for kernel in /boot/vmlinuz-*; do
  [ ! -e "$kernel" ] || printf 'kernel %s\\n' "\${kernel#/boot/vmlinuz-}"
done | head -n 100
echo end
`

/** Rejects with an SshError when the host does not answer or its answer is unreadable. */
export async function readFigures(host: Host, user: number): Promise<HostFigures> {
  const command = script(FIGURES, 'ops-panel-figures')
  return parseFigures(succeeded(await host.exec(command, { ...IN_TIME, user })))
}

/** Lines before those of variable number. */
const LINES = 11
const MORE = 200

export function parseFigures(text: string): HostFigures {
  const lines = text.split('\n').map((line) => line.trim())
  const told = lines.slice(lines.lastIndexOf(FIGURES_MARK) + 1)
  const [hostname, os, kernel = '', uptime, load, cpus, memory, disk, reboot, dpkg, boot_id] = told
  const end = told.indexOf('end', LINES)
  const more = told.slice(LINES, Math.max(end, LINES)).slice(0, MORE)
  const valuesOf = (key: string) =>
    more.flatMap((line) => (line.startsWith(`${key} `) ? line.slice(key.length + 1) : []))
  const asks = flag(reboot)
  const need = rebootOf(asks ? valuesOf('asked') : undefined, [kernel, ...valuesOf('kernel')])
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
    reboot_required: asks === undefined ? undefined : need.required,
    reboot_reasons: need.reasons,
    boot_id,
    dpkg_broken: flag(dpkg),
  })
  if (figures.success && end >= LINES && lines.includes(FIGURES_MARK)) return figures.data
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
