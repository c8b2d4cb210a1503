import * as z from 'zod'
import { isLink } from '../../platform/links.ts'
import type { Detail } from '../../runtime/errors.ts'
import { CronPattern, ScheduleSettings, TimeZone, type Wave } from '../../schedules/schedules.ts'
import { CurrentPassword } from '../auth/proof.ts'

/** Control characters, and those that turn the direction of a text, would make a name look like another one. */
const Name = z
  .string()
  .min(1)
  .max(100)
  .regex(
    /^(?=.*\S)[^\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]*$/u,
    'un nom visible, sans caractère de contrôle',
  )
  .meta({ format: 'line', examples: ['Nuit du dimanche'] })

const PingUrl = z
  .string()
  .max(2_000)
  .refine(
    (text) => isLink(text, { notation: 'plain' }) && !/[?#]/.test(text),
    'une adresse http: ou https: sans identifiants, requête ni fragment',
  )
  .meta({ format: 'url-without-credentials', examples: ['https://ping.example/0d2f8a'] })

/** Every field that a person sets. */
const FIELDS = {
  name: Name,
  enabled: z.boolean(),
  cron: CronPattern,
  timezone: TimeZone,
  ...ScheduleSettings.shape,
}

const SECRETS = {
  ping_url: PingUrl.nullable().optional().meta({
    description:
      'Is asked by GET when a run begins (`…/start`), succeeds, and fails (`…/fail`). Never given back; null removes it.',
  }),
  password: CurrentPassword.optional(),
}

/** A whole schedule without its secrets. */
export const SetFields = z.object(FIELDS)
export type SetFields = z.infer<typeof SetFields>

/** The body that makes a schedule. */
export const NewSchedule = z.object({
  ...FIELDS,
  enabled: FIELDS.enabled.default(true),
  window_minutes: FIELDS.window_minutes.default(240),
  only: FIELDS.only.default('all'),
  on_failure: FIELDS.on_failure.default('stop'),
  reboot: FIELDS.reboot.default('never'),
  ...SECRETS,
})

/** The body that changes a schedule: any of its fields. */
export const ScheduleChange = z.object({ ...SetFields.partial().shape, ...SECRETS })

/**
 * Returns the rules between fields that a schedule breaks. Each is a mistake that nobody would notice before the night: a target
 * whose turn is not clear, or a reboot that never happens.
 */
export function ruleProblems({ waves, action, reboot }: SetFields): Detail[] {
  return [...waveProblems(waves), ...rebootProblems(waves, action, reboot)]
}

function waveProblems(waves: readonly Wave[]): Detail[] {
  const problems: Detail[] = []
  const seen = new Set<string>()
  for (const [at, { targets }] of waves.entries())
    for (const target of targets === 'rest' ? ['rest'] : targets) {
      const field = `waves.${at}.targets`
      if (seen.has(target) && target === 'rest')
        problems.push({ field, message: 'une seule vague peut être « le reste »' })
      else if (seen.has(target)) problems.push({ field, message: `${target} est nommé deux fois` })
      seen.add(target)
    }
  return problems
}

function rebootProblems(waves: readonly Wave[], action: SetFields['action'], reboot: SetFields['reboot']): Detail[] {
  if (reboot === 'never') return []
  if (action === 'check')
    return [
      { field: 'reboot', message: 'une vérification ne redémarre rien : choisissez une mise à jour, ou « never »' },
    ]
  const hasHost = waves.some(({ targets }) => targets !== 'rest' && targets.includes('host'))
  return hasHost ? [] : [{ field: 'reboot', message: 'l’hôte n’est dans aucune vague : il ne serait jamais redémarré' }]
}
