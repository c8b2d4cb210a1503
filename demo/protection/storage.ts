import { BOOKWORM, type Place, type Storage } from '../place.ts'

/** The host's `/etc/pve/storage.cfg`. */
export const STORAGE_CFG = `dir: local
	path /var/lib/vz
	content iso,vztmpl,backup

lvmthin: local-lvm
	thinpool data
	vgname pve
	content rootdir,images

zfspool: local-zfs
	pool rpool/data
	sparse
	content images,rootdir

nfs: nas
	path /mnt/pve/nas
	server 192.0.2.7
	export /export
	content backup,rootdir

`

/** The volume names that each storage gives to the root of a container, and whether it can take snapshots. */
const KINDS: Readonly<Record<Storage, { volume: (id: string) => string; snapshots: boolean }>> = {
  local: { volume: (id) => `${id}/vm-${id}-disk-0.raw`, snapshots: false },
  'local-lvm': { volume: (id) => `vm-${id}-disk-0`, snapshots: true },
  'local-zfs': { volume: (id) => `subvol-${id}-disk-0`, snapshots: true },
  nas: { volume: (id) => `${id}/vm-${id}-disk-0.raw`, snapshots: false },
}

/** Returns the volume of a container's root, such as `local-lvm:vm-101-disk-0`. */
export function rootVolume({ id, storage = 'local-lvm' }: Place): string {
  return `${storage}:${KINDS[storage].volume(id)}`
}

/** Returns the volumes of a container on LVM-thin, without the storage. */
export function thinVolumes(place: Place): string[] {
  const all = [rootVolume(place), ...Object.values(place.mounts ?? {}).map((mount) => mount.split(',')[0] ?? '')]
  return all.flatMap((volume) => (volume.startsWith('local-lvm:') ? [volume.slice('local-lvm:'.length)] : []))
}

/** Whether the storages of a container can take a snapshot of it: one bind mount forbids it. */
export function canSnapshot({ storage = 'local-lvm', mounts = {} }: Place): boolean {
  const ofMount = (mount: string) => KINDS[storageOf(mount) ?? 'local'].snapshots
  return KINDS[storage].snapshots && Object.values(mounts).every(ofMount)
}

function storageOf(mount: string): Storage | undefined {
  const name = mount.split(':')[0]
  return name === 'local' || name === 'local-lvm' || name === 'local-zfs' || name === 'nas' ? name : undefined
}

/** Returns the settings of a container as `pct config` has them, without its snapshots. */
export function settingsOf(place: Place): Record<string, string> {
  const { name, os = BOOKWORM, lockedFor, template, tags, mounts, snapshots = [] } = place
  const parent = snapshots.at(-1)?.name
  return {
    arch: 'amd64',
    cores: '2',
    hostname: name,
    memory: '2048',
    ostype: os.id,
    rootfs: `${rootVolume(place)},size=8G`,
    ...mounts,
    ...(parent !== undefined && { parent }),
    ...(lockedFor !== undefined && { lock: lockedFor }),
    ...(template && { template: '1' }),
    ...(tags !== undefined && { tags }),
  }
}

/** Writes settings as `key: value`, sorted. */
export function settingLines(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key}: ${value}\n`)
    .sort()
    .join('')
}

/** Returns the whole configuration file of a container: its settings, and a section for each snapshot. */
export function configurationFile(place: Place): string {
  const sections = (place.snapshots ?? []).map(({ name, description, settings }) => {
    const told = description === undefined ? '' : `#${description}\n`
    return `\n[${name}]\n${told}${settingLines(settings)}`
  })
  return [settingLines(settingsOf(place)), ...sections].join('')
}
