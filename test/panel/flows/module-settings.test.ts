import { expect, test } from 'vitest'
import { openPage, signIn } from '../browser.ts'
import { withModules } from './with-modules.ts'

const CODE = `export default ({ z, defineSettings }) => [
  defineSettings({
    fields: z.object({
      port: z.int().min(1).max(65535).default(25).meta({ title: 'Port' }),
      token: z.string().min(8).meta({ title: 'Token' }),
    }),
    secrets: ['token'],
  }),
]`

test('a setting returns to its default when its field is empty, and a stored secret can be removed', async () => {
  const { service } = await withModules({ mail: { code: CODE, nav: { nav_label: 'Mail', nav_href: '/modules/mail' } } })
  const page = await openPage(service.url)
  await signIn(page, 'demo')
  await page.locator('.side').getByRole('link', { name: 'Mail', exact: true }).click()
  const [port, token] = [page.locator('input[name=port]'), page.locator('input[name=token]')]
  const save = page.getByRole('button', { name: 'Enregistrer', exact: true })
  const stored = page.getByText('Une valeur est enregistrée.')
  const remove = page.getByLabel('Supprimer la valeur enregistrée (Token)')

  await port.fill('2525')
  await token.fill('swordfish')
  expect(await remove.count()).toBe(0)
  await save.click()
  await page.getByText('Réglages enregistrés.').waitFor()
  await stored.waitFor()
  await page.reload()
  await stored.waitFor()
  expect(await port.inputValue()).toBe('2525')

  await port.fill('')
  await remove.check()
  expect(await token.isDisabled()).toBe(true)
  await save.click()
  await page.getByText('Réglages enregistrés.').waitFor()
  await remove.waitFor({ state: 'detached' })
  expect(await port.inputValue()).toBe('25')
  expect(await token.isDisabled()).toBe(false)
})
