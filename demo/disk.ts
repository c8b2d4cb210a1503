import type { Place } from './place.ts'

const BLOCK = 4096
const PLENTY = { size: 32 * 2 ** 30, free: 19 * 2 ** 30 }

/** The free space of each folder that an upgrade fills, and the bytes that `apt-get clean` frees. */
export function diskLines({ id, disk = PLENTY, cached = 0 }: Place): string[] {
  const space = `${Math.floor(disk.free / BLOCK)} ${BLOCK} ${Math.floor(disk.size / BLOCK)}`
  // A file system of its own for each place, as the number in `stat -f`.
  const number = Buffer.from(id).toString('hex')
  return [...['/', '/usr', '/var', '/boot', 'archives'].map((name) => `${name} ${space} ${number}`), `cached ${cached}`]
}
