import type { Place } from '../place.ts'
import { fail, type Machine, type Program } from '../process.ts'
import { thinVolumes } from './storage.ts'

const HALF_FULL = { data: 41.2, metadata: 2.31 }
/** A pool that is fuller than this takes no snapshot, in per cent. */
const FULLEST = 95

/** The fields that `lvs -o` can print of the thin pool. */
function fieldsOf({ host: { pool = HALF_FULL } }: Machine): ReadonlyMap<string, [string, string]> {
  return new Map([
    ['lv_name', ['LV', 'data']],
    ['vg_name', ['VG', 'pve']],
    ['lv_attr', ['Attr', 'twi-aotz--']],
    ['lv_size', ['LSize', '<141.57g']],
    ['pool_lv', ['Pool', '']],
    ['data_percent', ['Data%', pool.data.toFixed(2)]],
    ['metadata_percent', ['Meta%', pool.metadata.toFixed(2)]],
  ])
}

/** `lvs [--noheadings] [--separator=<text>] [-o <field>,…]`: the thin pool. */
export const lvs: Program = async (args, process) => {
  if (process.user.uid !== 0) return fail(process, LVS_DENIED, 5)
  const fields = fieldsOf(process.machine)
  const at = args.findIndex((arg) => arg === '-o' || arg === '--options')
  const names = at < 0 ? [...fields.keys()] : (args[at + 1] ?? '').split(',')
  const separator = args.map((arg) => /^--separator=(.*)$/.exec(arg)?.[1]).find((found) => found !== undefined) ?? ' '
  const row = (column: 0 | 1) => `  ${names.map((name) => fields.get(name)?.[column] ?? '').join(separator)}\n`
  await process.stdout(args.includes('--noheadings') ? row(1) : row(0) + row(1))
  return 0
}

const LVS_DENIED = `  WARNING: Running as a non-root user. Functionality may be unavailable.
  /run/lock/lvm/P_global:aux: open failed: Permission denied
`

/** `zpool list -Hp -o name,capacity`. */
export const zpool: Program = async (args, process) => {
  if (args[0] !== 'list') return fail(process, 'missing command\n', 2)
  await process.stdout('rpool\t38\n')
  return 0
}

/** Returns the pools of a container that are too full for a snapshot, as PROTECTED names them; empty when none is. */
export function lackOfRoom(place: Place, { host: { pool = HALF_FULL } }: Machine): string {
  const isFull = pool.data >= FULLEST || pool.metadata >= FULLEST
  if (!isFull || thinVolumes(place).length === 0) return ''
  return `pve/data: ${pool.data.toFixed(2)} % (metadata: ${pool.metadata.toFixed(2)} %)`
}
