import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { type Output, script, succeeded } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { entriesBetween, PACKAGE_NAME, PACKAGE_VERSION, parseChangelog } from './changelog.ts'
import { CHANGELOG, CHANGELOG_FAILED, CHANGELOG_MISSING } from './changelog-script.ts'

const Version = z.string().regex(PACKAGE_VERSION)
const Source = z.enum(['repository', 'package'])

/** The script itself ends after less. */
const WITHIN_MS = 65_000
const MAX_REASON = 300

export default defineFunction({
  method: 'GET',
  path: '/api/updates/changelog',
  summary: 'The changes of an offered version',
  description:
    'Returns the entries of a package’s changelog that are newer than `from` and not newer than `to`, newest first. The text comes from the repository, or from the package where the repository has none. An empty `from` stands for a package that is not installed yet: its newest entries.',
  auth: 'user',
  targets: ({ query: { target } }) => [target],
  rateLimit: READS,
  request: {
    query: z.object({
      target: Target,
      package: z.string().regex(PACKAGE_NAME),
      from: z.union([z.literal(''), Version]).default(''),
      to: Version,
    }),
  },
  response: z.object({
    package: z.string(),
    entries: z.array(
      z.object({
        version: z.string(),
        urgency: z.string().nullable(),
        date: z.string().nullable(),
        text: z.string(),
      }),
    ),
    source: Source,
  }),
  example: {
    query: { target: 'lxc:101', package: 'librig2', from: '1.4.2-1', to: '1.4.2-1+deb12u1' },
    response: {
      package: 'librig2',
      entries: [
        {
          version: '1.4.2-1+deb12u1',
          urgency: 'high',
          date: '2026-02-20T09:12:00.000Z',
          text: '  * Fix an out-of-bounds read (CVE-2026-1234).',
        },
      ],
      source: 'repository',
    },
  },
  errors: [
    'changelog_missing',
    'changelog_unavailable',
    'target_invalid',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'ssh_failed',
    'host_answer_too_long',
  ],

  async handler({ query }, { user: { id: user }, host, settings, fail }) {
    const { target: text, package: name, from, to } = query
    await settings.sshAccount()
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: shortened(text) } })
    const command = script(CHANGELOG, 'ops-panel-changelog', name, to)
    const output =
      target.kind === 'host'
        ? await host.exec(command, { user, timeoutMs: WITHIN_MS })
        : await host.exec(inContainer(target.id, command), {
            user,
            timeoutMs: WITHIN_MS,
            rights: 'command',
            verb: ['changelog', target.id, name, to],
          })
    if (output.code === CHANGELOG_MISSING) throw fail('changelog_missing')
    if (output.code === CHANGELOG_FAILED) throw fail('changelog_unavailable', { values: { reason: reasonIn(output) } })
    const stdout = succeeded(output)
    const end = stdout.indexOf('\n')
    const source = Source.safeParse(stdout.slice(0, Math.max(0, end)))
    const entries = await parseChangelog(stdout.slice(end + 1))
    if (!source.success || entries.length === 0) throw fail('changelog_missing')
    return { package: name, entries: entriesBetween(entries, from, to), source: source.data }
  },
})

/** Returns the last line of stderr as one line without control characters. */
function reasonIn({ stderr }: Output): string {
  const words = stderr.slice(-2 * MAX_REASON).trimEnd()
  const last = words.slice(words.lastIndexOf('\n') + 1).replace(/[\p{Cc}\p{Cf}]/gu, ' ')
  return last.slice(0, MAX_REASON).trim() || 'aucune réponse à temps'
}
