import { ERRORS } from '../../functions/services.ts'
import { expect, test } from 'vitest'
import { areas, functions } from '../../functions/index.ts'
import { createOpenApi } from '../../openapi/operation.ts'
import { rounds } from '../rounds.ts'
import { seedOf } from '../rounds.ts'
import { refused, succeeded } from './driver.ts'
import { readOpenApi } from './openapi.ts'
import { startServedWorld } from './served-world.ts'

/** The number of valid requests to each operation, and of invalid ones for each kind of fault. */
const runs = {
  valid: rounds(8, 60),
  broken: rounds(1, 3),
  seed: seedOf('test/document/every-operation.test.ts', 'whole'),
}
const TEST_MS = 60_000 + 2_000 * runs.valid * runs.broken

/** Only the titles of the tests come from this document; each test uses the one that the service serves. */
const names = readOpenApi(createOpenApi(functions, { version: 'test', areas, errors: ERRORS })).operations.map(
  ({ name }) => name,
)

/** The endpoints of the setup wizard exist only while no host is configured. */
const WIZARD = ['POST /api/install', 'POST /api/install/check', 'POST /api/install/key']
const OIDC = ['POST /api/auth/oidc', 'POST /api/auth/oidc/answer']
/** Cancelling succeeds only while a job runs. */
const CANCEL = 'POST /api/updates/jobs/{id}/cancel'

test.each(names)(
  '%s answers valid and invalid requests as its document declares',
  async (name) => {
    const { openapi, driver } = await startServedWorld({
      installed: !WIZARD.includes(name),
      running: name === CANCEL,
      oidc: OIDC.includes(name),
    })
    const operation = openapi.operations.find((each) => each.name === name)
    if (!operation) throw new Error(`${name} is not in the served document`)
    await driver.explore(runs)
    await driver.prepare(operation, runs)

    const reached = await driver.drive(operation, runs)

    expect(succeeded(reached), 'some requests succeed').toBe(true)
    expect(refused(reached), 'some are refused').toBe(true)
  },
  TEST_MS,
)
