import { createHash } from 'node:crypto'
import { type Host, script } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { ASKED } from './asked.ts'
import { COMPOSE } from './compose.ts'
import { type ComposeService, composeReport } from './compose-report.ts'
import type { Reading } from './source.ts'

/** Prints what a look at one stack tells: `LOOK <project>`, inside a container. */
const LOOK = `
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/bin:/bin"
unset TMPDIR TEMPDIR TMP TEMP
${ASKED}${COMPOSE}
compose_look "$1" </dev/null 2>/dev/null
`
/** The look asks for up to 25 s, and each program that it asks has 30 s at most. */
const WITHIN_MS = 120_000

/**
 * Looks at a stack once more, the registry included. The changes that a run would make are one text, whose address are the
 * files of the stack. The files themselves stay in the container, as they may have passwords in them; the digest is also
 * of them, with all their variables. Rejects with an SshError.
 */
export async function readStack(
  host: Host,
  { id, project, user }: { id: string; project: string; user: number },
): Promise<Reading> {
  await elevationOf(host)
  const command = inContainer(id, script(LOOK, 'ops-panel-stack', project))
  const output = await host.exec(command, { user, timeoutMs: WITHIN_MS, rights: 'command' })
  if (output.code !== 0) return { kind: 'failed', output }
  const report = composeReport(output.stdout.split('\n').filter((line) => line !== ''))
  const stack = report?.applications.find(({ name }) => name === project)
  const away = (reason: string): Reading => ({ kind: 'away', address: stack?.source?.address ?? project, reason })
  const digest = stack?.source?.digest
  if (!report || !stack || !digest) return away(report?.problems[0]?.message ?? 'it is not there any more')
  if (!stack.updatable) return away('there is nothing newer')
  const text = textOf(report.services.get(stack.id) ?? [])
  const own = createHash('sha256').update(text).digest('hex')
  const address = stack.source?.address ?? project
  const files = [{ address, digest: own, size: Buffer.byteLength(text), text }]
  return { kind: 'read', source: { address, digest, files, refused: [] } }
}

/** A line for each service: its image, and the digests before and after, or the one that stays. */
function textOf(services: readonly ComposeService[]): string {
  return services
    .map(({ service, image, from, to, isKnown }) => {
      const change = from === to ? from : `${from} -> ${to}`
      return `${service}: ${image}\n  ${change}${isKnown ? '' : ' ?'}\n`
    })
    .join('')
}
