import { readSources, saveSource } from '../../db/applications.ts'
import { timestamp } from '../../platform/clock.ts'
import { commandFailure } from '../../ssh/ssh.ts'
import { parseTarget, shortened } from '../hypervisor/target.ts'
import { fail, type Services } from '../services.ts'
import { readStack } from './compose-source.ts'
import type { KnownApplication } from './known-applications.ts'
import { readSource, type Source } from './source.ts'

/** The codes that `fetchedSource` throws, beside those of its caller. */
export const FETCH_ERRORS = [
  'target_invalid',
  'check_missing',
  'application_missing',
  'application_unsupported',
  'source_unavailable',
  'ssh_failed',
  'host_answer_too_long',
  'host_helper_old',
  'host_helper_lacks',
] as const

/**
 * Fetches what the update of an application would run, stores its digests, and tells whether somebody has agreed to it.
 * Throws `application_unsupported` for one that the panel does not update, `source_unavailable`, and an SshError.
 */
export async function fetchedSource(
  { db, host, clock }: Pick<Services, 'db' | 'host' | 'clock'>,
  { target, known: { found }, user }: { target: string; known: KnownApplication; user: number },
): Promise<Source & { agreed: boolean }> {
  const parsed = parseTarget(target)
  if (parsed?.kind !== 'container') throw fail('target_invalid', { values: { target: shortened(target) } })
  const isStack = found.kind === 'compose'
  if ((found.kind !== 'community_script' && !isStack) || found.source === null || !found.updatable)
    throw fail('application_unsupported')
  const { address } = found.source
  const reading = isStack
    ? await readStack(host, { id: parsed.id, project: found.name, user })
    : await readSource(host, { id: parsed.id, address, user })
  if (reading.kind === 'failed') throw commandFailure(reading.output)
  if (reading.kind === 'away') {
    const { address: from, reason } = reading
    throw fail('source_unavailable', { values: { address: from, reason } })
  }
  const { source } = reading
  const files = source.files.map(({ address: from, digest, size }) => ({ address: from, digest, size }))
  await saveSource(db, {
    target,
    application: found.id,
    address,
    digest: source.digest,
    files: JSON.stringify(files),
    refused: JSON.stringify(source.refused),
    fetched_at: timestamp(clock()),
  })
  const stored = await readSources(db, target)
  return { ...source, agreed: stored.some(({ digest, agreed }) => digest === source.digest && agreed) }
}
