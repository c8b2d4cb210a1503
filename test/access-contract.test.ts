import { expect, test } from 'vitest'
import { functions, sockets } from '../functions/index.ts'

// The table of docs/access.md is made from the declarations, so it agrees with a wrong one, too. The words of updates.md
// on roles and proofs are written here by hand.

const declared = [
  ...functions.map(({ method, path, auth, stepUp }) => ({ operation: `${method} ${path}`, auth, stepUp })),
  ...sockets.map(({ path, auth, stepUp }) => ({ operation: `GET ${path}`, auth, stepUp })),
]
const isChange = (operation: string) => !operation.startsWith('GET ')

/** The areas of which the contract says that changes take a recent proof. */
const PROVEN =
  /^(?:\w+ \/api\/(?:auth\/(?:factors|tokens|users)|modules|notifications|registry|repair|schedules|settings|updates\/(?:holds|protection|remedies))\b.*|GET \/ws\/terminal|POST \/api\/updates\/jobs\/:id\/rollback|POST \/api\/hypervisor\/host\/reboot)$/
/** One withdraws, the other only reads the key of another host. */
const HARMLESS = ['POST /api/schedules/runs/:id/cancel', 'POST /api/settings/host-key']

/** The operations of operators that do more than read. */
const OF_OPERATORS = [
  'GET /api/hypervisor/tasks/:task',
  'POST /api/hypervisor/containers/:vmid/:action',
  'POST /api/updates/applications/source',
  'POST /api/updates/checks',
  'POST /api/updates/jobs/:id/cancel',
  'POST /api/updates/plans',
  'POST /api/updates/plans/:id/conffiles',
  'POST /api/updates/run',
  'POST /api/updates/runs',
]
/** Changes of one's own account, and the ways in. */
const OF_EVERYBODY = /^\w+ \/api\/(?:auth\/(?!users)|dashboard\/layout$|install\b)/

test('what the contract names takes a recent proof', () => {
  const named = declared.filter(
    ({ operation }) =>
      PROVEN.test(operation) &&
      !HARMLESS.includes(operation) &&
      (isChange(operation) || operation === 'GET /ws/terminal'),
  )

  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ stepUp }) => stepUp !== true).map(({ operation }) => operation)).toEqual([])
})

test('operators have what the contract gives them, and every other change is for administrators', () => {
  const operators = declared.filter(({ auth }) => auth === 'operator').map(({ operation }) => operation)
  const others = declared.filter(
    ({ operation, auth }) =>
      isChange(operation) && auth !== 'admin' && auth !== 'operator' && !OF_EVERYBODY.test(operation),
  )

  expect(operators.sort()).toEqual(OF_OPERATORS)
  expect(others).toEqual([])
})

test('settings, logs, audit, people and channels are read by administrators alone', () => {
  const secret = /^GET \/api\/(?:audit|auth\/users|notifications|registry|repair|settings(?!\/public))/
  const read = declared.filter(({ operation }) => secret.test(operation))

  expect(read.length).toBeGreaterThan(8)
  expect(read.filter(({ auth }) => auth !== 'admin')).toEqual([])
})
