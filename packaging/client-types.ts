import { ERRORS } from '../functions/services.ts'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { functions } from '../functions/index.ts'
import { createDocuments } from '../openapi/openapi.ts'
import { operationTypes } from './operation-types.ts'
// Writes client/operations.ts, the types of the typed client: node packaging/client-types.ts

const ROOT = join(import.meta.dirname, '..')
const FILE = 'client/operations.ts'

/** Returns the text that client/operations.ts must contain. */
export async function currentTypes(): Promise<string> {
  const documents = createDocuments({ functions, sockets: [], errors: ERRORS }, '0')
  const types = operationTypes(await documents.openApi())
  const format = ['format', `--stdin-file-path=${FILE}`]
  return execFileSync(join(ROOT, 'node_modules/.bin/biome'), format, { cwd: ROOT, input: types, encoding: 'utf8' })
}

if (import.meta.main) writeFileSync(join(ROOT, FILE), await currentTypes())
