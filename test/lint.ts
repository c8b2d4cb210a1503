import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Off: the panel has no licence to name. */
const RULES = { 'info-license': 'off' } as const

/** Words that stand where other addresses have an id, which has 24 hexadecimal digits. */
const NO_DOUBT = /`\/api\/schedules\/\{id\}\/runs?` and `\/api\/schedules\/runs\/\{id\}`/

/** Returns the problems of an OpenAPI or AsyncAPI document, warnings included: the rule and the place. */
export async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/document.json', config })
  return problems
    .filter(({ ruleId, message }) => !(ruleId === 'no-ambiguous-paths' && NO_DOUBT.test(message)))
    .map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}
