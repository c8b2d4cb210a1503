import { expect, test } from 'vitest'
import { afterReboot, missingIn, reachedIn, rebootNews, rebootStops } from '../../../panel/nouns/reboot.ts'
import { rebootEnd } from '../../../functions/restarts/reboot-end.ts'
import { LOOK_MARK, REBOOT } from '../../../functions/restarts/reboot-script.ts'
import { check } from './checks.ts'

const BEFORE = '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90'
const AFTER = '9a1d2c3b-0000-4f0e-9c0e-2b7a1d6c8e90'
const AT = '2026-03-01T12:00:00.000Z'
const GONE = 'Le conteneur 102 (db) tournait avant le redémarrage et ne tourne plus.'

/** The lines and warnings with which the service itself ends a reboot after which 102 does not run. */
async function ended() {
  const lines: string[] = []
  const look = [LOOK_MARK, 'pve', AFTER, '1795000005', 'free', 'active', 'end'].join('\n')
  const exec = async (command: readonly string[]) => {
    const stdout = command[1] === 'list' ? 'VMID Status Lock Name\n101 running web\n102 stopped db\n' : look
    return { code: 0, stdout, stderr: '' }
  }
  const of = {
    id: 'job',
    code: null,
    notes: ['ran 101 web', 'ran 102 db', 'asked 1795000000'],
    settings: undefined,
    signal: new AbortController().signal,
    answered: () => {},
    tell: async (line: string) => void lines.push(line),
  }
  const { found } = await rebootEnd(BEFORE, { exec }, of)
  return { lines, found }
}

test('the lines and warnings of the service are understood', async () => {
  const { lines, found } = await ended()

  expect(found).toEqual({ warnings: [GONE] })
  expect(missingIn([GONE, 'La liste manque.'])).toEqual([{ vmid: 102, name: 'db' }])
  expect(reachedIn(lines)).toEqual({ asked: true, back: true })
  expect(reachedIn(['The host is asked to reboot.'])).toEqual({ asked: true, back: false })
  expect(reachedIn(['En attente de la fin de la tâche 1.'])).toEqual({ asked: false, back: false })
})

const running = { status: 'running', error_code: null, warnings: [] } as const
const failed = (error_code: string) => ({ status: 'error', error_code, warnings: [] }) as const

test.each([
  ['waits for checks', running, { asked: false, back: false }, 'now ahead ahead ahead'],
  ['is asked for', running, { asked: true, back: false }, 'done now ahead ahead'],
  ['has another boot', running, { asked: true, back: true }, 'done done done now'],
  ['is complete', { ...running, status: 'success' }, { asked: true, back: true }, 'done done done done'],
  [
    'lacks a container',
    { ...running, status: 'success', warnings: [GONE] },
    { asked: true, back: true },
    'done done done warn',
  ],
  ['is refused', failed('reboot_refused'), { asked: false, back: false }, 'fail off off off'],
  ['does not happen', failed('reboot_missing'), { asked: true, back: false }, 'done fail off off'],
  ['does not return', failed('host_not_back'), { asked: true, back: false }, 'done fail off off'],
  ['is cancelled', failed('cancelled'), { asked: true, back: false }, 'done off off off'],
] as const)('a reboot that %s shows so', (_, record, reached, states) => {
  const stops = rebootStops({ ...record, warnings: [...record.warnings] }, reached)
  expect(stops.map(({ state }) => state).join(' ')).toBe(states)
})

const job = {
  job_id: 'r',
  kind: 'reboot',
  status: 'error',
  error_code: 'reboot_missing',
  warnings: [],
  started_at: AT,
} as const
const now = Date.parse(AT) + 3_600_000

test('a failed reboot is news until the host boots, for a day', () => {
  const news = { job: 'r', at: AT, code: 'reboot_missing', missing: [] }
  const of = (rest: object = {}) => [{ ...job, warnings: [], ...rest }]

  expect(rebootNews(of(), { now, boot: undefined })).toEqual(news)
  expect(rebootNews(of(), { now, boot: Date.parse(AT) - 1_000 })).toEqual(news)
  expect(rebootNews(of(), { now, boot: Date.parse(AT) + 1_000 })).toBeUndefined()
  expect(rebootNews(of(), { now: now + 86_400_000, boot: undefined })).toBeUndefined()
  expect(rebootNews(of({ status: 'running' }), { now, boot: undefined })).toBeUndefined()
  expect(rebootNews(of({ error_code: 'cancelled' }), { now, boot: undefined })).toBeUndefined()
  expect(rebootNews([], { now, boot: undefined })).toBeUndefined()
})

test('containers that are missing after a reboot are news', () => {
  const done = { ...job, status: 'success', error_code: null, warnings: [GONE] } as const
  const found = rebootNews([{ ...done, warnings: [GONE] }], { now, boot: undefined })
  expect(found).toEqual({ job: 'r', at: AT, code: undefined, missing: [{ vmid: 102, name: 'db' }] })
})

test('a check from before a reboot no longer asks for one', () => {
  const old = { ...check('host', { findings: ['reboot_required', 'held'] }), checked_at: '2026-03-01T11:00:00.000Z' }
  const asks = { ...old, reboot: { required: true, reasons: ['linux-image'] } }
  const done = { kind: 'reboot', status: 'success', started_at: AT } as const

  const [after] = afterReboot([asks], [done])
  expect(after?.reboot).toEqual({ required: null, reasons: [] })
  expect(after?.findings.map(({ code }) => code)).toEqual(['held'])
  expect(afterReboot([asks], [{ ...done, status: 'error' }])).toEqual([asks])
  const later = { ...asks, checked_at: '2026-03-01T13:00:00.000Z' }
  expect(afterReboot([later], [done])).toEqual([later])
  const web = { ...asks, target: 'lxc:101' }
  expect(afterReboot([web], [done])).toEqual([web])
})

test('the script of a reboot prints the line by which the panel knows that the host was asked', () => {
  expect(REBOOT).toContain('The host is asked to reboot.')
})
