import type { Operations } from '../../../client/index.ts'
import { targetName } from '../../parts/target-name.ts'
import { keepInQuery, route } from '../../router.ts'
import { targets } from '../../wire/packages.ts'
import { auditWords } from './words.ts'

export type Filter = Pick<
  NonNullable<Operations['GET /api/audit']['query']>,
  'action' | 'user' | 'target' | 'from' | 'until'
>
export type AuditAction = NonNullable<Filter['action']>

/** The fields of the form; a day is one of the reader’s, as the browser writes it. */
export interface Fields {
  action: AuditAction | ''
  user: string
  target: string
  from: string
  until: string
}

export const NO_FIELDS: Fields = { action: '', user: '', target: '', from: '', until: '' }

/** The service refuses longer texts. */
export const LONGEST = 256

/** The fields that the address has: a reload and the way back lead to the same entries. */
export function fieldsAsked(): Fields {
  const asked = (name: keyof Fields) => (route.value?.query.get(name) ?? '').slice(0, LONGEST)
  const day = (name: 'from' | 'until') => (isDay(asked(name)) ? asked(name) : '')
  const action = asked('action')
  return {
    action: isAction(action) ? action : '',
    user: asked('user'),
    target: asked('target'),
    from: day('from'),
    until: day('until'),
  }
}

/** Puts the fields into the address. */
export function keepFields(fields: Fields): void {
  keepInQuery(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text || undefined])))
}

/** The question to the service. */
export function filterOf({ action, user, target, from, until }: Fields): Filter {
  return {
    ...(action && { action }),
    ...(user && { user }),
    ...(target && { target }),
    ...(from && { from: startOf(from, 0) }),
    ...(until && { until: startOf(until, 1) }),
  }
}

/** Entries of other actions are about accounts, tokens or modules, which may have the name of a container. */
const ON_TARGETS =
  /^(access_refused|plan_|update_|snapshot_|protection_|check_|remedy_|container_|application_|restart_|host_reboot|terminal_|$)/

/** The known targets that are meant by a name, a number or a target; none where it is something else. */
export function targetsMeant(text: string, action: Fields['action']): string[] {
  if (!ON_TARGETS.test(action)) return []
  const said = text.toLowerCase()
  const ids = ['host', 'all', ...(targets.value?.map(({ id }) => id) ?? [])]
  const byId = ids.find((id) => id === said || id === `lxc:${said}`)
  if (byId !== undefined) return [byId]
  return [...new Set(ids)].filter((id) => targetName(id).toLowerCase() === said)
}

export function isAction(name: string): name is AuditAction {
  return Object.hasOwn(auditWords().actions, name)
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}

/** The beginning of a day of the reader, `later` days after that one. */
function startOf(day: string, later: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + later).toISOString()
}
