import type { Answer } from '../../../client/index.ts'
import { legible } from '../../nouns/code-lines.ts'
import { minutesSaid, waveSaid } from '../../parts/schedules/words.ts'
import { fromService } from '../../words/words.ts'
import { auditWords } from './words.ts'

export type Entry = Answer<'GET /api/audit'>['entries'][number]

type Value = NonNullable<Entry['details']>[string]

/** The details of an entry, by names in the reader's language. */
export function Details({ of, action }: { of: NonNullable<Entry['details']>; action: string }) {
  const say = auditWords()
  return (
    <details>
      <summary>{say.details}</summary>
      <dl>
        {shown(of).map(([name, value]) => (
          <div key={name}>
            <dt class="dim">{nameOf(name, action)}</dt>
            <dd class="mono">
              {isEndless(name, value) ? say.never : isEmpty(value) ? say.emptied : textOf(name, value)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** The details that tell something: an empty one does only where a change has emptied it. */
export function shown(details: NonNullable<Entry['details']>): [name: string, value: Value][] {
  return Object.entries(details).filter(([name, value]) => {
    const former = name.endsWith('_after') ? details[`${name.slice(0, -'_after'.length)}_before`] : undefined
    return !isEmpty(value) || !isEmpty(former) || isEndless(name, value)
  })
}

/** The fields whose values have words. */
const SPOKEN = new Set(['kind', 'factor', 'by', 'password', 'targets'])

/** Whether a token never expires. */
function isEndless(name: string, value: Value | undefined): boolean {
  return name === 'expires_at' && value === null
}

function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === ''
}

/** Returns the name of a detail; one that the panel does not know, such as a module's, keeps its own. */
function nameOf(name: string, action?: string): string {
  const say = auditWords()
  const [, field = name, edge] = /^(.+?)_(before|after)$/.exec(name) ?? []
  const special = Object.entries(say.fieldsOf).find(([of]) => of === action)?.[1]
  const known = (special && found(special, field)) ?? found(say.fields, field)
  if (known === undefined) return name
  return edge === 'before' ? say.before(known) : edge === 'after' ? say.after(known) : known
}

/** Returns a value as a word of the reader where the panel has one for it. */
function textOf(name: string, value: Value): string {
  const say = auditWords()
  if (typeof value === 'boolean') return value ? say.yes : say.no
  const text = String(value)
  if (name === 'keys')
    return text
      .split(', ')
      .map((key) => nameOf(key))
      .join(', ')
  const field = name.replace(/_(before|after)$/, '')
  if (field === 'waves') return wavesSaid(text) ?? legible(text)
  if (field === 'role') return found(say.roles, text) ?? text
  if (field === 'outcome') return found(say.outcomes, text) ?? text
  if (SPOKEN.has(field)) return found(say.values, text) ?? legible(text)
  return legible(fromService(text))
}

/** The waves of a schedule in words. The log cuts a long text off: then the last wave may lack targets. */
function wavesSaid(text: string): string | undefined {
  const [start, ...waves] = text.split('{"targets":')
  if (start !== '[' || waves.length === 0) return undefined
  const say = auditWords()
  const said = waves.map((wave, n) => {
    const names = wave.startsWith('"rest"') ? 'rest' : Array.from(wave.matchAll(TARGET), ([, target = '']) => target)
    const pause = Number(/"pause_minutes":(\d+)/.exec(wave)?.[1] ?? 0)
    return say.wave(n + 1, legible(waveSaid(names)), pause > 0 ? minutesSaid(pause) : undefined)
  })
  return `${said.join(' · ')}${text.endsWith(']') ? '' : '…'}`
}

/** A target inside the JSON of a wave. */
const TARGET = /"((?:host|lxc:|tag:)[^"\\]*)"/g

function found(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined
}
