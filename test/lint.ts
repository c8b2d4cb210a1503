import { createConfig, lintFromString } from '@redocly/openapi-core'

/** Without: the panel comes without a licence, and there is nothing to name. */
const RULES = { 'info-license': 'off' } as const

/** What the linter finds wrong with an OpenAPI or AsyncAPI document, warnings too: the rule and the place. */
export async function lint(document: object): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/document.json', config })
  return problems.map(({ ruleId, location, message }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}
