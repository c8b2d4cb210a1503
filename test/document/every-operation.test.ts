import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { areas, functions } from '../../functions/index.ts'
import { createOpenApi } from '../../runtime/openapi.ts'
import { startWorld } from '../property/world.ts'
import { createDriver, refused, succeeded } from './driver.ts'
import { type Operation, readOpenApi } from './openapi.ts'

const FILE = 'test/document/every-operation.test.ts'
const seed = Number(process.env.PROPERTY_SEED ?? randomInt(2 ** 31))
console.info(`seed ${seed}; the same requests again: PROPERTY_SEED=${seed} npx vitest run --project unit ${FILE}`)

const runs = { valid: Number(process.env.DOCUMENT_RUNS ?? 30), broken: 1, seed }

/** Only for the list of tests: what is asked is what the service itself serves. */
const { operations } = readOpenApi(JSON.parse(JSON.stringify(createOpenApi(functions, { version: 'test', areas }))))
const OPERATIONS = operations.map((operation) => [operation.name, operation] as const)

/** What is there only as long as the service knows no host. */
const WIZARD = ['POST /api/install', 'POST /api/install/check']
/** What succeeds only while a job runs. */
const CANCEL = 'POST /api/updates/jobs/{id}/cancel'

test.each(OPERATIONS)(
  '%s answers what its document allows and forbids as its document says',
  async (name, { method, path }) => {
    const world = await startWorld({ installed: !WIZARD.includes(name), running: name === CANCEL, called: true })
    const openapi = readOpenApi(await (await fetch(`${world.url}/api/openapi.json`)).json())
    const operation = openapi.operations.find((each) => each.method === method && each.path === path)
    const driver = createDriver(world, openapi, { ...givenOf(world), stateCodes: ['target_invalid'] })
    await driver.explore(runs)
    await driver.prepare(expectOperation(operation), runs)

    const reached = await driver.drive(expectOperation(operation), runs)

    expect(succeeded(reached), 'some requests succeed').toBe(true)
    expect(refused(reached), 'some are refused').toBe(true)
  },
  60_000,
)

function expectOperation(operation: Operation | undefined): Operation {
  if (!operation) throw new Error('the operation is not in the served document')
  return operation
}

function givenOf({ known, deployments }: Awaited<ReturnType<typeof startWorld>>) {
  const [setup_token] = known.setup
  const [ssh_host] = known.host
  const [ssh_password] = known.password
  const [ssh_host_key] = known.hostkey
  return {
    seeds: { DeploymentId: deployments },
    given: {
      tokens: { user: known.user, admin: known.admin },
      cookies: { svc_refresh: known.refresh },
      values: {
        ...{ username: 'demo', password: 'demo' },
        ...{ setup_token, ssh_host, ssh_username: 'panel', ssh_password, ssh_host_key },
      },
      address: (n: number) => [['X-Forwarded-For', `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`] as const],
    },
  }
}
