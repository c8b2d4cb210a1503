import * as z from 'zod'
import { fail } from '../services.ts'
import { type ApiRequests, unreadable } from './api-requests.ts'
import { isSame } from './certificate.ts'
import type { Container } from './container.ts'

/** The name of a hypervisor node, restricted because it becomes part of an address. */
export const NodeName = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, 'un nom de nœud')

const Nodes = z.array(z.object({ node: NodeName, ssl_fingerprint: z.string().nullish() }))
type Nodes = z.infer<typeof Nodes>

/** A number; the hypervisor sometimes sends it as text in Perl's notation, such as `5.1e-05`. */
const Figure = z.union([
  z.number(),
  z
    .string()
    .regex(/^\d{1,16}(\.\d{1,20})?(e[+-]?\d{1,2})?$/)
    .transform(Number),
])
const Flag = z.union([z.number(), z.string(), z.boolean()]).transform((flag) => Number(flag) === 1)

/** A short text from the hypervisor, far below this length in practice. */
const Word = z.string().max(4_096)

const Listed = z.object({
  vmid: Figure.pipe(z.number().int().positive()),
  name: Word.nullish(),
  status: Word,
  lock: Word.nullish(),
  cpu: Figure.nullish(),
  cpus: Figure.nullish(),
  mem: Figure.nullish(),
  maxmem: Figure.nullish(),
  disk: Figure.nullish(),
  maxdisk: Figure.nullish(),
  uptime: Figure.nullish(),
  tags: Word.nullish(),
  template: Flag.nullish(),
})

const Permissions = z.record(z.string(), z.record(z.string(), z.unknown()))

/**
 * Returns the node that is this host: the only node, else the one whose certificate answered, else the one that the
 * address names.
 */
export async function findNode({ ask, fingerprint }: ApiRequests, url: string): Promise<string> {
  const nodes = await ask(Nodes, '/nodes')
  const [first, ...others] = nodes
  if (!first) throw unreadable('il n’y a aucun nœud')
  if (others.length === 0) return first.node
  const found = byCertificate(nodes, fingerprint()) ?? byName(nodes, new URL(url).hostname)
  if (found) return found.node
  const named = nodes.slice(0, 5).map(({ node }) => node)
  throw fail('hypervisor_node_unknown', {
    values: { nodes: [...named, ...(nodes.length > 5 ? ['…'] : [])].join(', ') },
  })
}

function byCertificate(nodes: Nodes, met: string | undefined) {
  return nodes.find(({ ssl_fingerprint }) => met !== undefined && ssl_fingerprint && isSame(ssl_fingerprint, met))
}

function byName(nodes: Nodes, hostname: string) {
  const [name] = hostname.toLowerCase().split('.')
  return nodes.find(({ node }) => node.toLowerCase() === name)
}

/**
 * Returns the containers of a node, sorted by number and without templates. Fails with `hypervisor_forbidden` when the
 * token may not see any container.
 */
export async function listOfNode(requests: ApiRequests, node: string): Promise<Container[]> {
  const listed = await requests.ask(z.array(Listed), `/nodes/${node}/lxc`)
  // The hypervisor sends an empty list both without rights and without containers.
  if (listed.length === 0 && !(await hasRight(requests, 'VM.Audit')))
    throw fail('hypervisor_forbidden', { values: { message: 'VM.Audit manque pour voir les conteneurs' } })
  return listed
    .filter(({ template }) => !template)
    .map(container)
    .sort((one, other) => one.vmid - other.vmid)
}

/** Whether the token has a right on any path. */
export async function hasRight({ ask }: ApiRequests, right: string): Promise<boolean> {
  const permissions = await ask(Permissions, '/access/permissions')
  return Object.values(permissions).some((rights) => Object.hasOwn(rights, right))
}

function container({ vmid, name, status, lock, tags, template: _, ...figures }: z.infer<typeof Listed>): Container {
  return {
    vmid,
    name: name || `CT${vmid}`,
    status,
    lock: lock || null,
    cpu: figures.cpu ?? null,
    cpus: figures.cpus ?? null,
    mem: figures.mem ?? null,
    maxmem: figures.maxmem ?? null,
    disk: figures.disk ?? null,
    maxdisk: figures.maxdisk ?? null,
    uptime: figures.uptime ?? null,
    tags: (tags ?? '').split(/[;,\s]+/).filter((tag) => tag !== ''),
  }
}
