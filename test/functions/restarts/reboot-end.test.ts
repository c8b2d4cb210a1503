import { beforeEach, expect, test } from 'vitest'
import type { Concluding } from '../../../jobs/jobs.ts'
import {
  lookAtHost,
  readRebootNotes,
  rebootEnd,
  rebootPassed,
  type Time,
} from '../../../functions/restarts/reboot-end.ts'
import { LOOK_MARK } from '../../../functions/restarts/reboot-script.ts'
import { speakFrench } from '../../../runtime/input.ts'
import type { Output } from '../../../ssh/channel.ts'
import { SshError } from '../../../ssh/connection.ts'
import type { Host } from '../../../ssh/host.ts'

const BEFORE = '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90'
const AFTER = '9a1d2c3b-0000-4f0e-9c0e-2b7a1d6c8e90'
const ASKED = 1_795_000_000
const MINUTE = 60_000

/** A host with two boots: `boots` is asked how many milliseconds have passed, and so is `list`. */
function hostOf({
  boot = () => AFTER,
  guests = () => 'unknown',
  list = () => 'VMID Status Lock Name\n101 running web\n102 running db\n',
}: {
  boot?: (ms: number) => string | undefined
  guests?: (ms: number) => string
  list?: (ms: number) => string | undefined
} = {}): Pick<Host, 'exec'> {
  const began = time.now()
  const exec = async (command: readonly string[]): Promise<Output> => {
    const ms = time.now() - began
    const seconds = ASKED + 5 + Math.floor(ms / 1_000)
    const id = boot(ms)
    const text =
      command[1] === 'list' ? list(ms) : id && [LOOK_MARK, 'pve', id, seconds, 'free', guests(ms), 'end'].join('\n')
    if (text === undefined) throw new SshError('lost', 'la connexion a été perdue')
    return { code: 0, stdout: text, stderr: '' }
  }
  return { exec }
}

const NOTES = ['ran 101 web', 'ran 102 db', `asked ${ASKED}`]

/** The end of a reboot as far as it goes by itself, with what it told and how long it took. */
async function endOf(host: Pick<Host, 'exec'>, of: Partial<Concluding> = {}) {
  const told: string[] = []
  const signal = new AbortController().signal
  const given = { id: 'job', code: null, notes: NOTES, settings: undefined, signal, answered: () => {}, ...of }
  const end = await rebootEnd(BEFORE, host, { ...given, tell: async (line) => void told.push(line) }, time)
  return { end, told, seconds: Math.round(time.now() / 1_000) }
}

/** A clock that its pauses alone move. */
function movedTime(): Time {
  let now = 0
  return {
    now: () => now,
    async pause(ms) {
      now += ms
    },
  }
}
let time = movedTime()

beforeEach(() => {
  speakFrench()
  time = movedTime()
})

test('another boot with all containers is a success at once', async () => {
  const { end, told, seconds } = await endOf(hostOf())

  expect(end).toEqual({ lines: ['Conteneurs de nouveau en marche : 2 sur 2.'], found: { warnings: [] } })
  expect(told).toEqual([`L’hôte a redémarré : ${BEFORE} → ${AFTER}.`, 'Attente des conteneurs qui tournaient…'])
  expect(seconds).toBeLessThan(3)
})

test.each([
  ['was lost', null],
  ['was ended by the signal of the reboot', 143],
])('a command that %s says nothing: the boot is waited for', async (_, code) => {
  const { end, seconds } = await endOf(hostOf({ boot: (ms) => (ms < 3 * MINUTE ? BEFORE : AFTER) }), { code })

  expect(end.failure).toBeUndefined()
  expect(seconds).toBeGreaterThanOrEqual(180)
})

test.each([
  ['was lost', { code: null }],
  ['was ended by a signal', { code: 143 }],
  ['was lost with its notes', { code: null, notes: [] }],
])('the same boot is no reboot 15 minutes after it was asked for, if the command %s', async (_, of) => {
  const { end, told, seconds } = await endOf(hostOf({ boot: () => BEFORE }), of)

  expect(end).toMatchObject({ lines: [], failure: { code: 'reboot_missing' } })
  expect(told).toEqual([])
  expect(seconds).toBeGreaterThanOrEqual(890)
  expect(seconds).toBeLessThanOrEqual(905)
})

test('the 15 minutes count from the request, whoever follows the job', async () => {
  const notes = [`asked ${ASKED - 14 * 60}`]

  const { end, seconds } = await endOf(hostOf({ boot: () => BEFORE }), { notes })

  expect(end).toMatchObject({ failure: { code: 'reboot_missing' } })
  expect(seconds).toBeLessThan(65)
})

test.each([
  ['the host still runs after its own 15 minutes', { code: 70 }, 'reboot_missing'],
  ['the host has another name', { code: 65, notes: [] }, 'confirm_invalid'],
  ['a backup runs', { code: 69, notes: ['ran 101 web'] }, 'backup_running'],
  ['the request is too old', { code: 75, notes: [] }, 'reboot_late'],
  ['systemctl refuses', { code: 71 }, 'reboot_refused'],
  ['the sudo rule does not allow it', { code: 77, notes: [] }, 'systemctl_not_allowed'],
])('nothing is waited for when %s', async (_, of, failure) => {
  const { end, seconds } = await endOf(hostOf({ boot: () => BEFORE }), of)

  expect(end).toMatchObject({ lines: [], failure: { code: failure } })
  expect(seconds).toBeLessThan(3)
})

test('a command that ended before it asked is no reboot that was waited for', async () => {
  const { end, seconds } = await endOf(hostOf({ boot: () => BEFORE }), { code: 127, notes: ['ran 101 web'] })

  expect(end).toMatchObject({
    lines: ['Le redémarrage n’a pas été demandé à l’hôte.'],
    failure: { code: 'reboot_refused' },
  })
  expect(seconds).toBeLessThan(3)
})

/** How long a cancelled reboot that was asked for is waited for, in seconds. */
async function passedAfter(host: Pick<Host, 'exec'>): Promise<number> {
  await rebootPassed({ before: BEFORE, asked: ASKED }, host, new AbortController().signal, time)
  return Math.round(time.now() / 1_000)
}

test.each<[string, Parameters<typeof hostOf>[0], number]>([
  ['goes down, is away and is back', { boot: (ms) => (ms < 4 * MINUTE ? undefined : AFTER) }, 240],
  ['takes its time to go down', { boot: (ms) => (ms < 5 * MINUTE ? BEFORE : AFTER), guests: () => 'stopping' }, 300],
  ['does not reboot', { boot: () => BEFORE }, 30],
  ['does not come back', { boot: () => undefined }, 900],
  ['never goes down', { boot: () => BEFORE, guests: () => 'stopping' }, 900],
])('after a cancel, a host that %s is waited for as long as it takes', async (_, host, expected) => {
  expect(Math.abs((await passedAfter(hostOf(host))) - expected)).toBeLessThan(8)
})

test('after a cancel, a host that lets nobody in is tried for three minutes', async () => {
  const exec = async (): Promise<Output> => {
    throw new SshError('bad_credentials', 'refusé')
  }

  expect(Math.abs((await passedAfter({ exec })) - 180)).toBeLessThan(3)
})

test('a host that has been rebooted since the request is a success, without a list of containers', async () => {
  const { end } = await endOf(hostOf(), { code: 0, notes: [] })

  expect(end.failure).toBeUndefined()
  expect(end.found).toEqual({ warnings: ['La liste des conteneurs qui tournaient avant le redémarrage manque.'] })
})

test('a container that comes back late is waited for, through lists that fail', async () => {
  const list = (ms: number) => {
    if (ms < MINUTE) return undefined
    return `101 running web\n102 ${ms < 2 * MINUTE ? 'stopped' : 'running'} db\n`
  }

  const { end, seconds } = await endOf(hostOf({ list }))

  expect(end.found).toEqual({ warnings: [] })
  expect(seconds).toBeGreaterThanOrEqual(120)
})

const GONE = 'Le conteneur 102 (db) tournait avant le redémarrage et ne tourne plus.'

test.each([
  ['5 minutes', hostOf.bind(null, { list: () => '101 running web\n102 stopped db\n' }), 300],
  [
    'until the hypervisor has started its guests',
    hostOf.bind(null, {
      list: () => '101 running web\n',
      guests: (ms) => (ms < MINUTE ? 'activating' : 'active'),
    }),
    60,
  ],
])('a container that does not come back is waited for %s, and named', async (_, host, expected) => {
  const { end, seconds } = await endOf(host())

  expect(end).toEqual({ lines: ['Conteneurs de nouveau en marche : 1 sur 2.', GONE], found: { warnings: [GONE] } })
  expect(Math.abs(seconds - expected)).toBeLessThan(5)
})

test.each<[string, string[], string]>([
  ['before', ['unlisted', `asked ${ASKED}`], 'La liste des conteneurs qui tournaient avant le redémarrage manque.'],
  ['after', NOTES, 'Après le redémarrage, la liste des conteneurs n’a pas pu être lue.'],
])('a list that cannot be read %s the reboot is told, and the reboot is a success', async (_, notes, warning) => {
  const { end } = await endOf(hostOf({ list: () => undefined }), { notes })

  expect(end).toEqual({ lines: [warning], found: { warnings: [warning] } })
})

test('a host without containers ends without a word about them', async () => {
  const { end, told } = await endOf(hostOf(), { notes: [`asked ${ASKED}`] })

  expect(end).toEqual({ lines: [] })
  expect(told).toHaveLength(1)
})

test('of a thousand containers that are gone, fifty are named and the rest is counted', async () => {
  const notes = [...Array.from({ length: 1_000 }, (_, n) => `ran ${1_000 + n} ct${n}`), `asked ${ASKED}`]

  const { end } = await endOf(hostOf({ guests: () => 'active' }), { notes })

  expect(end.lines).toHaveLength(52)
  expect(end.lines.at(-1)).toBe('Conteneurs qui ne tournent plus, en plus : 950.')
})

test('a connection that is lost rejects, to be tried again, and each answer of the host is noted', async () => {
  let answers = 0
  const signal = new AbortController().signal
  const of = { id: 'job', code: null, notes: NOTES, settings: undefined, signal, tell: async () => {} }
  const lost = rebootEnd(BEFORE, hostOf({ boot: () => undefined }), { ...of, answered: () => (answers += 1) })
  await expect(lost).rejects.toThrow(SshError)
  expect(answers).toBe(0)
  await rebootEnd(BEFORE, hostOf(), { ...of, answered: () => (answers += 1) })
  expect(answers).toBeGreaterThanOrEqual(2)
})

test.each([
  [
    'no word of the notes',
    ['boot', '', 'ran', 'ran x y', 'ran 101', 'ran 101 we b', 'ran 101 ../etc', 'asked now'],
    [],
  ],
  ['a name of 64 letters', [`ran 101 ${'a'.repeat(64)}`], []],
  ['a container', ['ran 101 web.lan'], [{ vmid: 101, name: 'web.lan' }]],
])('of notes, %s is read', (_, notes, ran) => {
  expect(readRebootNotes(notes)).toEqual({ ran, isUnlisted: false, asked: undefined })
})

test.each([
  ['no mark', ['pve', BEFORE, '1', 'free', 'active', 'end']],
  ['no end', [LOOK_MARK, 'pve', BEFORE, '1', 'free', 'active']],
  ['no boot id', [LOOK_MARK, 'pve', 'boot', '1', 'free', 'active', 'end']],
  ['no name', [LOOK_MARK, '', BEFORE, '1', 'free', 'active', 'end']],
  ['another word about backups', [LOOK_MARK, 'pve', BEFORE, '1', 'maybe', 'active', 'end']],
])('a host whose answer has %s is unreadable', async (_, lines) => {
  const exec = async () => ({ code: 0, stdout: lines.join('\n'), stderr: '' })

  await expect(lookAtHost({ exec })).rejects.toThrow('illisible')
})
