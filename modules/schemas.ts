import * as zod from 'zod'
import { ModuleError } from './faults.ts'

const refuse = (name: string) => (): never => {
  throw new ModuleError(`z.${name} changerait les réponses de tout le service : un module ne peut pas s’en servir`)
}

/** The registry of descriptions, to which a module may add those of its own schemas. */
const { add, get, has } = zod.globalRegistry
const globalRegistry = Object.freeze({
  add: add.bind(zod.globalRegistry),
  get: get.bind(zod.globalRegistry),
  has: has.bind(zod.globalRegistry),
  remove: refuse('globalRegistry.remove'),
  clear: refuse('globalRegistry.clear'),
})

const core = Object.freeze({
  ...zod.core,
  config: refuse('core.config'),
  globalConfig: Object.freeze({ ...zod.core.globalConfig }),
  globalRegistry,
})

const frozen = { ...zod, config: refuse('config'), core, globalRegistry }

/**
 * Zod as modules get it. It shares its classes with the service, which recognizes schemas by them, but refuses what would
 * change the answers of the whole service. Zod completes its prototypes as they are used, so these stay open.
 */
export const moduleZod: object = Object.freeze(Object.assign(frozen, { z: frozen, default: frozen }))
