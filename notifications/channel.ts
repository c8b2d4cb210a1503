import * as z from 'zod'
import type { ChannelRow } from '../db/notifications/channels.ts'
import { isLink } from '../platform/links.ts'
import { EVENT_NAMES, EventName, Severity } from './event.ts'
import { isTimeZone } from './quiet.ts'

export const ChannelKind = z.enum(['email', 'ntfy', 'gotify', 'webhook', 'apprise', 'matrix'])
export type ChannelKind = z.infer<typeof ChannelKind>

/** Printable ASCII without spaces: such a value fits into a header and an address as it is. */
const Token = z
  .string()
  .max(512)
  .regex(/^[\x21-\x7e]*$/, 'des caractères ASCII sans espace')
  .meta({ examples: ['tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2'] })

const Text = z
  .string()
  .max(512)
  .refine((text) => !/\p{Cc}/u.test(text), 'une ligne sans caractère de contrôle')
  .meta({ format: 'line', examples: ['panel', 'correct horse battery staple'] })

const Mailbox = z
  .string()
  .max(254)
  .regex(/^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9][A-Za-z0-9.-]*$/, 'une adresse nom@domaine')
  .meta({ examples: ['admin@example.com'] })

const Address = z
  .string()
  .max(2_000)
  .refine(
    (text) => isLink(text, { notation: 'plain' }) && !text.includes('#'),
    'une adresse http: ou https: sans identifiants ni fragment',
  )
  .meta({ format: 'url-without-credentials', examples: ['https://push.example'] })

const MailHost = z
  .string()
  .max(253)
  .regex(
    /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$/,
    'un nom d’hôte ou une adresse IP',
  )
  .meta({ examples: ['mail.example'] })

/** Every setting of any kind, apart from secrets. The bounds keep each value harmless in a header, an address and a mail. */
const PLAIN = {
  host: MailHost,
  port: z.int().min(1).max(65_535),
  security: z.enum(['none', 'starttls', 'tls']),
  username: Text,
  from: Mailbox,
  to: z.array(Mailbox).min(1).max(20),
  url: Address,
  topic: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'de 1 à 64 lettres, chiffres, _ ou -')
    .meta({ examples: ['ops-panel'] }),
  room: z
    .string()
    .max(255)
    .regex(/^![\x21-\x7e]+$/, 'l’identifiant d’un salon, qui commence par !')
    .meta({ examples: ['!OGEhHVWSdvArJzumhm:matrix.example'] }),
  allow_self_signed: z.boolean(),
}
const SECRET = { password: Text, token: Token, secret: Text, key: Token }
type PlainName = keyof typeof PLAIN
type SecretName = keyof typeof SECRET

/** The settings of each kind: those that it needs, and those that it may have besides. */
const FIELDS: Readonly<Record<ChannelKind, { needs: readonly string[]; takes: readonly string[] }>> = {
  email: { needs: ['host', 'port', 'security', 'from', 'to'], takes: ['username', 'password'] },
  ntfy: { needs: ['url', 'topic'], takes: ['token'] },
  gotify: { needs: ['url', 'token'], takes: [] },
  webhook: { needs: ['url', 'secret'], takes: [] },
  apprise: { needs: ['url', 'key'], takes: [] },
  matrix: { needs: ['url', 'room', 'token'], takes: [] },
}

export const PlainSettings = z.strictObject(PLAIN).partial()
export const SecretSettings = z.strictObject(SECRET).partial()
export type PlainSettings = z.infer<typeof PlainSettings>
export type SecretSettings = z.infer<typeof SecretSettings>

const removable = <schema extends z.ZodType>(schema: schema) => schema.nullable()

/**
 * Settings as a request gives them. In a change, a setting that is left out stays, and so does an empty secret; `null`
 * removes a setting.
 */
export const GivenSettings = z
  .strictObject({
    host: removable(PLAIN.host),
    port: removable(PLAIN.port),
    security: removable(PLAIN.security),
    username: removable(PLAIN.username),
    password: removable(SECRET.password),
    from: removable(PLAIN.from),
    to: removable(PLAIN.to),
    url: removable(PLAIN.url),
    topic: removable(PLAIN.topic),
    token: removable(SECRET.token),
    secret: removable(SECRET.secret),
    key: removable(SECRET.key),
    room: removable(PLAIN.room),
    allow_self_signed: removable(PLAIN.allow_self_signed),
  })
  .partial()
export type GivenSettings = z.infer<typeof GivenSettings>

/** The names of all settings of a kind. */
export const settingsOfKind = (kind: ChannelKind): string[] => [...FIELDS[kind].needs, ...FIELDS[kind].takes]

/** Settings as they may be shown: a secret appears only as set or not. */
export const ShownSettings = z.strictObject({
  ...PlainSettings.shape,
  url: z.string().optional().meta({
    description: 'Of a webhook without its query and the parts of its path that may be tokens: `…` stands for them.',
  }),
  allow_self_signed: PLAIN.allow_self_signed,
  password_set: z.boolean().optional(),
  token_set: z.boolean().optional(),
  secret_set: z.boolean().optional(),
  key_set: z.boolean().optional(),
})

const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'une heure de 00:00 à 23:59')
export const QuietHours = z
  .strictObject({
    from: Clock.meta({ examples: ['22:00'] }),
    to: Clock.meta({ examples: ['07:00'] }),
    timezone: z
      .string()
      .max(64)
      .refine(isTimeZone, 'le nom d’un fuseau horaire, comme Europe/Paris')
      .meta({ format: 'time-zone', examples: ['Europe/Paris', 'UTC'] }),
  })
  .meta({ description: 'From `from` until `to`, by the clock of the time zone. Equal times are no quiet hours.' })

/** Choices of a channel: the notices that it gets, and how they are written. */
export const Chosen = z.strictObject({
  events: z
    .array(EventName)
    .min(1)
    .max(2 * EVENT_NAMES.length),
  targets: z.union([
    z.literal('all'),
    z
      .array(
        z
          .string()
          .regex(/^(host|lxc:[1-9]\d{2,8})$/, 'host ou lxc:<id>')
          .meta({ examples: ['host', 'lxc:101'] }),
      )
      .min(1)
      .max(200),
  ]),
  minimum: Severity,
  quiet: QuietHours.nullable(),
  language: z.enum(['fr', 'en']),
  /** Whether a notice has the last lines of a failed job's output, which may show more than the notice itself. */
  output: z.boolean(),
})
export type Chosen = z.infer<typeof Chosen>
/** Choices as stored. Names of events that this version does not know are left out. */
const StoredChosen = Chosen.extend({
  events: z.array(z.string()).transform((names) => names.flatMap((name) => EventName.safeParse(name).data ?? [])),
})

export const ChannelName = z
  .string()
  .max(64)
  .refine((name) => /^[^\p{C}\s]/u.test(name) && !/\p{C}|\s$/u.test(name), 'un nom visible, sans espace autour')
  .meta({ format: 'line', examples: ['Astreinte', 'Mail der Admins'] })

/** One setting that is wrong, with a French sentence. */
export interface SettingProblem {
  field: string
  message: string
}

export interface ChannelSettings {
  plain: PlainSettings
  secrets: SecretSettings
}

export const isSecret = (name: string): name is SecretName => Object.hasOwn(SECRET, name)
const isPlain = (name: string): name is PlainName => Object.hasOwn(PLAIN, name)

/** Joins given settings with the former ones, and lists everything that is wrong with the result for this kind. */
export function joinSettings(
  kind: ChannelKind,
  given: GivenSettings,
  former: ChannelSettings = { plain: {}, secrets: {} },
): ChannelSettings & { problems: SettingProblem[] } {
  const all = new Map<string, unknown>(Object.entries({ allow_self_signed: false, ...former.plain, ...former.secrets }))
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || (isSecret(name) && value === '')) continue
    if (value === null || value === '') all.delete(name)
    else all.set(name, value)
  }
  const { needs } = FIELDS[kind]
  const known = [...settingsOfKind(kind), 'allow_self_signed']
  const problems = [
    ...needs.filter((name) => !all.has(name)).map((field) => ({ field, message: 'Ce réglage est nécessaire.' })),
    ...[...all.keys()]
      .filter((name) => !known.includes(name))
      .map((field) => ({ field, message: 'Ce type de canal n’a pas ce réglage.' })),
  ]
  const plain = PlainSettings.parse(Object.fromEntries([...all].filter(([name]) => isPlain(name))))
  const secrets = SecretSettings.parse(Object.fromEntries([...all].filter(([name]) => isSecret(name))))
  return {
    plain: { allow_self_signed: false, ...plain },
    secrets,
    problems: [...problems, ...conflicts(plain, secrets)],
  }
}

/** Rules that hold between settings. */
function conflicts(plain: PlainSettings, secrets: SecretSettings): SettingProblem[] {
  const problems: SettingProblem[] = []
  const wrong = (field: string, message: string) => problems.push({ field, message })
  if (secrets.password !== undefined && plain.username === undefined)
    wrong('username', 'Un mot de passe va avec un nom d’utilisateur.')
  if (plain.username !== undefined && secrets.password === undefined)
    wrong('password', 'Un nom d’utilisateur va avec un mot de passe.')
  if (secrets.password !== undefined && plain.security === 'none' && !isThisMachine(plain.host ?? ''))
    wrong('security', 'Sans chiffrement, un mot de passe n’est envoyé qu’à cette machine (localhost).')
  if (plain.url?.includes('?') && secrets.secret === undefined)
    wrong('url', 'L’adresse d’un tel serveur n’a pas de paramètres.')
  if (plain.url?.includes('…')) wrong('url', 'L’adresse est abrégée par « … » : donnez-la entière.')
  return problems
}

function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

export const chosenOf = ({ chosen }: Pick<ChannelRow, 'chosen'>): Chosen => StoredChosen.parse(JSON.parse(chosen))
