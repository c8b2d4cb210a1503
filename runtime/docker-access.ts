import { stat } from 'node:fs/promises'
import type Docker from 'dockerode'
import { connectEngine, type Inspected, ownContainer } from './docker-engine.ts'

/** The engine behind a socket, and the container that this process runs in. Rejects with what to do, in French. */
export async function reachEngine(socket: string): Promise<{ engine: Docker; self: Inspected }> {
  try {
    const engine = await connectEngine(socket)
    const self = await ownContainer(engine)
    if (!self) throw new Error('le moteur Docker ne connaît pas de conteneur où ce service s’exécuterait')
    return { engine, self }
  } catch (error) {
    throw new Error(await remedy(error, socket), { cause: error })
  }
}

async function remedy(error: unknown, socket: string): Promise<string> {
  const isRefused = error instanceof Error && 'code' in error && error.code === 'EACCES'
  const gid = isRefused ? await groupOf(socket) : undefined
  if (gid !== undefined)
    return `le compte du service n’a pas accès au moteur Docker : recréez le conteneur avec le groupe de ${socket} (« --group-add ${gid} », pour Compose « group_add: ['${gid}'] »).`
  const reason = error instanceof Error ? error.message : String(error)
  return `réparez l’accès au moteur Docker par ${socket} (${reason}), puis redémarrez le service.`
}

/** Undefined where not even the folder of the socket is open to this account. */
async function groupOf(socket: string): Promise<number | undefined> {
  return (await stat(socket).catch(() => undefined))?.gid
}
