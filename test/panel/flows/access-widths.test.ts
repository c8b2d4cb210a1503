import { expect, test } from 'vitest'
import { follow, openPage } from '../browser.ts'
import { armClipping } from './clipping.ts'
import { look } from './page-findings.ts'
import { ageProofs, codeNow } from './proofs.ts'
import { started } from './started.ts'

const LONG = 280_000
const WAIT = { timeout: 60_000 }
const REFUSED = /status of (401|403|404|409)/
const PROMPT =
  'Code de vérification à usage unique, tel que l’appareil de sécurité de votre service l’affiche maintenant: '

test.each([
  ['fr-FR', 'demo'],
  ['en-GB', 'guest'],
])('%s: factors, tokens and people have no fault at any width', { timeout: LONG }, async (locale, name) => {
  const { service } = await started({ PANEL_REQUIRE_FACTOR: 'all' })
  const page = await openPage(service.url, { locale, reducedMotion: 'reduce', expected: REFUSED })
  await armClipping(page)
  const found: string[] = []
  const give = async () => {
    await page.locator('input[name=username]').fill(name)
    await page.locator('input[name=password]').fill(name)
    await page.keyboard.press('Enter')
  }
  await give()
  await page.locator('.kinds').waitFor(WAIT)
  await look(page, 'a factor that must be added', found)
  await page.locator('.kinds button').first().click()
  await page.locator('.qr path').waitFor({ state: 'attached', ...WAIT })
  await page.locator('.add-factor summary').click()
  await look(page, 'an app that is added', found)
  const secret = (await page.locator('.secret').innerText()).replaceAll(' ', '')
  await page.locator('input[name=code]').fill(codeNow(secret, -1))
  await page.keyboard.press('Enter')
  await page.locator('.codes li').first().waitFor(WAIT)
  await look(page, 'recovery codes', found)
  await page.locator('.kept input').check()
  await page.locator('.recovery .primary').click()
  await page.locator('.shell').waitFor(WAIT)

  await follow(page, '/account')
  await page.locator('.factors .list li').waitFor(WAIT)
  await look(page, 'an account with a factor', found)
  await page.getByRole('button', { name: /^(Nouveau jeton|New token)$/ }).click()
  await page.locator('dialog input[name=name]').fill('W'.repeat(64))
  await page.getByText(/^(Certaines|Some)$/).click()
  await page.locator('dialog .primary').click()
  await look(page, 'a token that is made', found)
  await page.locator('.pick input').first().check()
  await page.locator('dialog .primary').click()
  await page.locator('dialog .secret').waitFor(WAIT)
  await look(page, 'a token that is shown', found)
  await page.locator('dialog .primary').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  await look(page, 'an account with a token', found)

  await ageProofs(service.folder)
  await page.reload()
  await armClipping(page)
  await page.locator('.recovery-left button').click(WAIT)
  await page.locator('dialog .primary').click()
  await page.locator('.step-up input[name=code]').waitFor(WAIT)
  await look(page, 'the question who the user is', found)
  await page.keyboard.press('Escape')
  await page.locator('.recovery-left .problem').waitFor(WAIT)
  await look(page, 'a question that was declined', found)
  if (name === 'demo') {
    await follow(page, '/access')
    await page.locator('.people > li').first().waitFor(WAIT)
    await page.getByRole('button', { name: '1 session de demo' }).click()
    await page.locator('.people .more li').first().waitFor(WAIT)
    await look(page, 'the people', found)
  }

  await follow(page, '/account')
  await page
    .locator('main')
    .getByRole('button', { name: /^(Se déconnecter|Sign out)$/ })
    .click()
  await give()
  await page.locator('.factor-question').waitFor(WAIT)
  await look(page, 'a second factor that is asked for', found)
  await page.route('**/api/auth/login', (route) =>
    route.fulfill({
      status: 401,
      json: {
        error: '',
        code: 'more_asked',
        challenge: 'x',
        prompts: [
          { text: PROMPT, echo: true },
          { text: '', echo: false },
        ],
      },
    }),
  )
  await page.locator('.others button').last().click()
  await give()
  await page.locator('input[name=answer-1]').waitFor(WAIT)
  await look(page, 'questions of the host', found)
  await page.goto(`${service.url}/enrol`)
  await armClipping(page)
  await page.locator('h1').waitFor()
  await look(page, 'an incomplete link', found)

  expect(found).toEqual([])
})
