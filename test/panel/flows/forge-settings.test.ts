import { expect, test } from 'vitest'
import { createPanel } from '../../../client/index.ts'
import { lacks, startGitea, type TestGitea } from '../../functions/forge/gitea.ts'
import { openPage, signIn } from '../browser.ts'
import { started } from './started.ts'

async function opened({ language = 'fr', env = {} }: { language?: 'fr' | 'en'; env?: Record<string, string> } = {}) {
  const { service } = await started(env)
  const panel = createPanel({ url: service.url })
  await panel.signIn('demo', 'demo')
  if (language === 'en') await panel.api('PATCH /api/auth/preferences', { body: { lang: 'en' } })
  const page = await openPage(`${service.url}/settings`)
  await signIn(page)
  const forge = page.getByRole('region', { name: 'Forge', exact: true })
  await forge.waitFor()
  return {
    page,
    forge,
    dialog: page.locator('dialog'),
    read: () => panel.api('GET /api/settings'),
    /** Types the settings of a forge. */
    async type({ url }: TestGitea, { org = 'modules', token = 'good' } = {}) {
      await forge.locator('input[name=forge_url]').fill(url)
      await forge.locator('input[name=forge_org]').fill(org)
      await forge.locator('input[name=forge_token]').fill(token)
    },
  }
}

test('a forge is tested before it is saved, and used once it is', async () => {
  const gitea = await startGitea()
  const { page, forge, read, type } = await opened()
  await type(gitea)

  await forge.getByRole('button', { name: 'Tester la forge' }).click()

  await forge.getByText('La forge peut servir des modules.').waitFor()
  await forge.getByText('Ces valeurs ne sont pas encore enregistrées.').waitFor()
  expect(await forge.locator('.tested li').allInnerTexts()).toHaveLength(6)
  expect((await read()).forge_url).toBe('')
  await forge.getByRole('button', { name: 'Enregistrer' }).click()
  await page.getByText('Réglages de la forge enregistrés.').waitFor()
  expect(await read()).toMatchObject({ forge_url: gitea.url, forge_org: 'modules', forge_token_set: true })
  expect(await forge.locator('input[name=forge_token]').inputValue()).toBe('')
  await forge.getByText('Inchangé si vide.').waitFor()
  await forge.getByRole('button', { name: 'Tester la forge' }).click()
  await forge.getByText('module.json de « hello » se lit.').waitFor()
  expect(gitea.requests.at(-1)?.authorization).toBe('token good')
})

test('a certificate that nobody vouches for is accepted by its fingerprint, after a question', async () => {
  const gitea = await startGitea({ secure: true })
  const { forge, dialog, read, type } = await opened()
  await type(gitea)
  await forge.getByRole('button', { name: 'Tester la forge' }).click()
  await forge.locator('.tested').getByText(gitea.fingerprint).waitFor()
  const accept = forge.getByRole('button', { name: 'Accepter ce certificat' })

  await accept.click()
  await dialog.getByRole('button', { name: 'Annuler' }).click()
  expect((await read()).forge_fingerprint).toBe('')
  expect(gitea.requests).toEqual([])
  await accept.click()
  await dialog.getByRole('button', { name: 'Accepter ce certificat' }).click()

  await forge.getByText('Le certificat de la forge est celui qui a été accepté.').waitFor()
  await forge.getByText('La forge peut servir des modules.').waitFor()
  expect(await read()).toMatchObject({ forge_fingerprint: gitea.fingerprint, forge_token_set: true })
  expect(await forge.locator('input[name=forge_fingerprint]').inputValue()).toBe(gitea.fingerprint)
})

test('another certificate for the stored token needs the user’s password', async () => {
  const gitea = await startGitea({ secure: true })
  const { forge, dialog, read, type } = await opened()
  await type(gitea)
  await forge.getByRole('button', { name: 'Enregistrer' }).click()
  await forge.getByText('Inchangé si vide.').waitFor()
  await forge.getByRole('button', { name: 'Tester la forge' }).click()

  await forge.getByRole('button', { name: 'Accepter ce certificat' }).click()
  await dialog.getByLabel('Votre mot de passe').fill('demo')
  await dialog.getByRole('button', { name: 'Accepter ce certificat' }).click()

  await forge.getByText('La forge peut servir des modules.').waitFor()
  expect((await read()).forge_fingerprint).toBe(gitea.fingerprint)
})

test('in English, a missing permission is named, and results of other values are not shown', async () => {
  const gitea = await startGitea({ answers: { '/api/v1/orgs/modules': lacks('read:organization') } })
  const { forge, type } = await opened({ language: 'en' })
  await type(gitea)

  await forge.getByRole('button', { name: 'Test the forge' }).click()

  await forge.getByText('The token lacks the permission read:organization.').waitFor()
  await forge.getByText('Something remains to be fixed.').waitFor()
  await forge.locator('input[name=forge_org]').fill('other')
  expect(await forge.locator('.tested').count()).toBe(0)
})

test('the forge of the environment is named, and fills the empty fields', async () => {
  const gitea = await startGitea()
  const { forge } = await opened({ env: { PANEL_FORGE_URL: gitea.url, PANEL_FORGE_ORG: 'modules' } })

  await forge.getByText(`L’environnement du service donne ${gitea.url}, organisation modules`).waitFor()
  expect(await forge.locator('input[name=forge_org]').getAttribute('placeholder')).toBe('modules')
  await forge.getByRole('button', { name: 'Tester la forge' }).click()
  await forge.getByText('La forge peut servir des modules.').waitFor()
})
