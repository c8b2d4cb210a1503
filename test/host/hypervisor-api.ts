import { startHypervisor, type TestHypervisor } from '../hypervisor.ts'
import type { BegunTask, TestStep } from '../hypervisor-snapshots.ts'
import type { Caller } from './client.ts'
import { inside, rig } from './rig.ts'

/** Allows the account `ops` only these commands of pct, and apt, until the next reset: by default no step on snapshots. */
export async function limitOps(...commands: string[]): Promise<void> {
  const allowed = commands.length > 0 ? commands : ['list', 'exec *', 'status *', 'config *']
  const rule = ['/usr/bin/apt', '/usr/bin/apt-get', ...allowed.map((words) => `/usr/sbin/pct ${words}`)].join(', ')
  await inside('host', `echo 'ops ALL=(root) NOPASSWD: ${rule}' >/etc/sudoers.d/ops && visudo -cq`)
}

/** The words of the hypervisor's own tool for each type of task. */
const VERBS = {
  vzsnapshot: (name: string) => ['snapshot', name],
  vzdelsnapshot: (name: string) => ['delsnapshot', name],
  vzrollback: (name: string) => ['rollback', name],
  vzstart: () => ['start'],
}

/** The state of a container, from its configuration. */
const READ = `pct status "$1"
awk '/^\\[/ { name = substr($0, 2, length($0) - 2); print "snapshot:", name }
  /^snapstate: / { print "snapstate:", name, $2 }
  name == "" && /^lock: /' "/etc/pve/lxc/$1.conf"`

/** Starts an API of the hypervisor whose tasks the rig's own tool carries out, as root on the host. */
export async function rigHypervisor(): Promise<TestHypervisor> {
  const hypervisor = await startHypervisor()
  const { snapshots } = hypervisor
  snapshots.perform = async ({ type, vmid, name }: TestStep): Promise<BegunTask> => {
    const [verb = '', ...words] = VERBS[type](name)
    try {
      const lines = (await rig('in', 'host', 'pct', verb, vmid, ...words)).split('\n')
      return { lines: [...lines, 'TASK OK'], exitstatus: 'OK' }
    } catch (error) {
      const reason = String(Object(error).stderr).trimEnd().split('\n').at(-1) || String(error)
      return { lines: [`TASK ERROR: ${reason}`], exitstatus: reason }
    }
  }
  snapshots.read = async (vmid) => {
    const lines = (await rig('in', 'host', 'sh', '-c', READ, 'read', vmid)).split('\n').map((line) => line.split(': '))
    const of = (key: string) => lines.flatMap(([name, value = '']) => (name === key ? [value] : []))
    const incomplete = of('snapstate').map((value) => value.split(' '))
    return {
      status: of('status')[0] ?? 'stopped',
      lock: of('lock')[0],
      snapshots: of('snapshot').map((name) => {
        const state = incomplete.find(([of]) => of === name)?.[1]
        return { name, ...(state !== undefined && { snapstate: state }) }
      }),
    }
  }
  return hypervisor
}

/** Stores the address and the token of that API in the settings. */
export async function useApi(admin: Caller, { url, token, fingerprint }: TestHypervisor): Promise<void> {
  const settings = { hypervisor_url: url, hypervisor_token: token, hypervisor_fingerprint: fingerprint }
  const { status, body } = await admin.patch('/api/settings', settings)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
}
