import { type ChannelDraft, FIELDS, type FieldName, hasSecret, isSecret, PORTS } from '../../nouns/channel-form.ts'
import type { Channel } from '../../nouns/notification.ts'
import { Choice } from '../../parts/choice.tsx'
import { Entry } from '../../parts/schedules/entry.tsx'
import { notificationWords } from './words.ts'

interface FieldsProps {
  draft: ChannelDraft
  set(part: Partial<ChannelDraft>): void
  stored: Channel | undefined
  wrong: Readonly<Record<string, string>>
}

/** The settings of the channel's kind. Secrets are never read back: an empty field keeps the stored one. */
export function Fields({ draft, set, stored, wrong }: FieldsProps) {
  const say = notificationWords()
  const { kind, fields, selfSigned } = draft
  const put = (part: ChannelDraft['fields']) => set({ fields: { ...fields, ...part } })
  return (
    <>
      {FIELDS[kind].map((field) => (
        <OneField
          key={field}
          field={field}
          draft={draft}
          put={put}
          isStored={hasSecret(stored, field)}
          isNew={stored === undefined}
          error={errorOf(field, wrong)}
        />
      ))}
      <label class="tick">
        <input
          type="checkbox"
          checked={selfSigned}
          onChange={({ currentTarget }) => set({ selfSigned: currentTarget.checked })}
        />
        <span>
          {say.selfSigned}
          <span class="hint dim">{say.selfSignedHint}</span>
        </span>
      </label>
    </>
  )
}

/** Why a field is refused: the panel has better words for a bound than the service. */
function errorOf(field: FieldName, wrong: FieldsProps['wrong']): string | undefined {
  const { wrong: own } = notificationWords().edition
  // A list is refused by the number of the wrong entry, too.
  const found = Object.entries(wrong).find(([name]) => `${name}.`.startsWith(`settings.${field}.`))
  if (!found) return undefined
  return field === 'port' || field === 'to' ? own[field] : found[1]
}

interface OneFieldProps {
  field: FieldName
  draft: ChannelDraft
  put(part: ChannelDraft['fields']): void
  /** Whether the service has this secret. */
  isStored: boolean
  isNew: boolean
  error: string | undefined
}

function OneField({ field, draft: { kind, fields }, put, isStored, isNew, error }: OneFieldProps) {
  const say = notificationWords()
  const value = fields[field] ?? ''
  if (field === 'security') {
    const chosen = isSecurity(value) ? value : 'starttls'
    return (
      <div class="field">
        <Choice
          label={say.fields.security}
          value={chosen}
          of={say.securities}
          choose={(next) => {
            // A port that somebody has typed stays.
            const isUsual = (fields.port ?? '') === PORTS[chosen] || (fields.port ?? '') === ''
            put({ security: next, ...(isUsual && { port: PORTS[next] }) })
          }}
        />
        <p class="hint dim">{say.fieldHints.security}</p>
        {error && <p class="wrong">{error}</p>}
      </div>
    )
  }
  const label = labelOf(field, kind)
  const secretHint = isSecret(field) && !isNew ? (isStored ? say.secretSet : say.secretUnset) : undefined
  // The service never gives the parts of an address back that may be tokens.
  const cutHint = field === 'url' && value.includes('…') ? say.addressCut : undefined
  const hint = [field in say.fieldHints ? hintOf(field) : undefined, secretHint, cutHint].filter(Boolean).join(' ')
  return (
    <Entry
      name={field}
      type={isSecret(field) ? 'password' : 'text'}
      label={label}
      hint={hint === '' ? undefined : hint}
      value={value}
      error={error}
      typed={(next) => put({ [field]: next })}
    />
  )
}

function labelOf(field: FieldName, kind: ChannelDraft['kind']): string {
  const say = notificationWords()
  if (field === 'token' && kind === 'ntfy') return say.optionalToken
  return field === 'url' && kind === 'webhook' ? say.webhookAddress : say.fields[field]
}

function isSecurity(text: string): text is keyof typeof PORTS {
  return Object.hasOwn(PORTS, text)
}

function hintOf(field: FieldName): string | undefined {
  const { fieldHints: hints } = notificationWords()
  if (field === 'to' || field === 'topic' || field === 'room' || field === 'secret' || field === 'key')
    return hints[field]
  return undefined
}
