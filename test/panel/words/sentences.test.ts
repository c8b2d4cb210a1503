import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sql as modules } from '../../../db/migrations/0006-modules.ts'
import { ERRORS } from '../../../functions/services.ts'
import { createTranslation } from '../../../panel/nouns/from-service.ts'
import { sentences } from '../../../panel/words/en.ts'
import { frenchIn } from '../checks/french.ts'

const english = createTranslation(sentences)

/** Whose sentences reach a console or the log alone, or an answer that the panel does not show because a code tells it. */
const NOT_SHOWN = [
  /\.command\.ts$/,
  /^functions\/install\/(certificate-check|outside-checks|protection-check|wizard)\.ts$/,
  /^functions\/modules\/(console-switch|module|enable\.post|disable\.post)\.ts$/,
  /^functions\/registry\/(descriptor|folder-file|forge-files)\.ts$/,
  /^functions\/releases\/install\.post\.ts$/,
  /^functions\/settings\/(fields|settings\.patch|public\.put)\.ts$/,
  /^functions\/(access|auth|dashboard|factors|repair)\/.*\.(post|put|patch|delete)\.ts$/,
  /^functions\/hypervisor\/(action\.post|api-tasks)\.ts$/,
  /^functions\/(checks\/(check(-report|-script)?|upgraders-script|system-findings|remedy-job|(checks|remedies)\.post)|findings\/.*)\.ts$/,
  // The scripts of package managers, and findings, whose English is in words/en/findings.ts.
  /^functions\/managers\/.*\.ts$/,
  /^functions\/applications\/(applications-look|community-look|compose|fetch-script)\.ts$/,
  /^functions\/(runs\/runs?\.post|plans\/(holds\.put|conffile-scripts))\.ts$/,
  /^functions\/updates\/(upgrade|run\.post|targets\.get|changelog\.get)\.ts$/,
  /^functions\/(jobs\/cancel\.post|install\/(host-helper|helper-(arguments|verbs)))\.ts$/,
  /^functions\/(auth\/host-account|tokens\/token\.delete)\.ts$/,
  /^functions\/restarts\/(standing-findings|(reboot|restart|services)-script)\.ts$/,
  /^functions\/install\/install\.post\.ts$/,
  /\/codes\.ts$/,
  /^runtime\/(command|errors|input)\.ts$/,
  /^platform\/(certificate|config|files|links|log|(oidc-)?variables|secrets)\.ts$/,
  /^cli\/(cli|command-line|terminal)\.ts$/,
  // Authors of modules read them at the console.
  /^functions\/authors\/.*\.ts$/,
  /^serve\/(develop-module|function-instance|inspect-module|installed|main|server|service-manager|workers)\.ts$/,
  /^ssh\/(command|identity-script)\.ts$/,
  /^jobs\/(runner|script)\.ts$/,
  /^(settings|ssh|functions\/(hypervisor|checks|forge))\/settings\.ts$/,
  /^functions\/dashboard\/shortcuts\.ts$/,
  // Commands alone use it.
  /^functions\/access\/named-user\.ts$/,
  // Messages are composed in the language of their channel.
  /^notifications\/(english|message|notifier|words(-fr|-en)?)\.ts$/,
]
/** Names and parts of sentences that stand in none by themselves. */
const NO_SENTENCE = new Set([
  // The name of a schedule in an example.
  'Nuit du dimanche',
  // That of a factor.
  'Téléphone',
  'En attente de la fin de la tâche {} ({}){}…',
  'aucune réponse de {} {} pour {}',

  'un nom de nœud',
  '{} est attendu',
  // Together: one sentence each in the list.
  '<adresse du panneau>',
  'des mots de passe incorrects, saisis par n’importe qui, rendent alors l’hôte inaccessible à tous pendant un moment',
  'sshd (OpenSSH {}) peut bloquer ce service : {}. {}',
  'sshd (OpenSSH {}) peut bloquer ce service, et {} n’a pas le droit de lire s’il le fait : {}. Si ce n’est pas déjà fait : {}',
  'une règle sudo : {} ALL=(root) NOPASSWD: {}',
  '{} Installez ops-panel-host sur l’hôte (« ops-panel host helper » dit comment), et ajoutez {}',
  '{} Pour les limiter : ops-panel host helper.',
  '{} peut lancer apt-get par sudo, ce qui donne tous les droits de root.',
  '{} n’a pas les droits de mettre à jour.',
  '{} n’a par sudo que les droits qu’ops-panel-host lui donne (version {})',
  '{}. Il faut la version {} : {}',
  '{}. Il diffère de celui de ce service : {}',
  'à temps',
  'déclaration {}{} : {}',
  '(réglages)',
  '(tâche)',
  'le dépôt « {} » {}',
])

const sources = globSync(
  '{cli,functions,jobs,modules,notifications,openapi,platform,runtime,schedules,serve,sessions,settings,ssh}/**/*.ts',
).filter((path) => !NOT_SHOWN.some((not) => not.test(path)))
const untold = (all: readonly string[]) =>
  all.filter((sentence) => !NO_SENTENCE.has(sentence) && english(filled(sentence)) === filled(sentence))
const filled = (sentence: string) => sentence.replaceAll(/\{\w*\}/g, 'x1')

test('every French sentence that the panel shows beside a code has English text in panel/words/en/sentences', () => {
  expect(sources.length).toBeGreaterThan(100)
  const missing = sources.flatMap((path) =>
    untold(frenchIn(path, readFileSync(path, 'utf8'))).map((sentence) => `${path}: ${sentence}`),
  )

  expect(missing).toEqual([])
})

test('error sentences that the panel shows in full have English text', () => {
  const shown = Object.entries(ERRORS).filter(
    ([code, [, text]]) =>
      /\{(message|how|lock|nodes)\}/.test(text) || /^(internal|ssh_|storage|target_invalid)/.test(code),
  )

  expect(shown.length).toBeGreaterThan(15)
  expect(untold(shown.map(([, [, text]]) => text))).toEqual([])
})

test('the names of core modules have English text', () => {
  const names = [...modules.matchAll(/'([^'\n]*[a-z][^'\n]*)'/g)]
    .map(([, name = '']) => name)
    .filter((name) => /^[A-Z]/.test(name))

  expect(names.length).toBeGreaterThan(8)
  expect(untold(names).filter((name) => !/^(Terminal|Modules|[A-Z ]+)$/.test(name))).toEqual([])
})

test('the check finds a missing sentence', () => {
  const source =
    "throw new SshError('lost', `le câble de $" +
    "{host} est coupé`); const a = { summary: 'La santé' }; f('ssh-ed25519')"

  expect(frenchIn('a.ts', source)).toEqual(['le câble de {} est coupé'])
  expect(untold(['le câble de {} est coupé', 'la connexion a été perdue'])).toEqual(['le câble de {} est coupé'])
})

test('sentences inside sentences are translated, and unknown texts stay unchanged', () => {
  expect(english('Erreur SSH\u202f: pas de réponse de [::1]:22 en 10 s')).toBe(
    'SSH error: no answer from [::1]:22 within 10 s',
  )
  expect(
    english('L’hôte refuse root avec ce mot de passe\u202f; sshd doit autoriser root (PermitRootLogin yes).'),
  ).toBe('The host rejects root with this password; sshd must allow root (PermitRootLogin yes).')
  expect(english('pct répond : 6 conteneurs.')).toBe('pct answers: 6 containers.')
  expect(english('pct répond : 1 conteneur.')).toBe('pct answers: 1 container.')
  expect(english('La forge a refusé la lecture de 2 dépôts : a, b')).toBe(
    'The forge denied access to 2 of its repositories: a, b',
  )
  expect(english('E: Unable to locate package x')).toBe('E: Unable to locate package x')
  expect(english('')).toBe('')
})

test('sentences that version 0.1 stored are still translated', () => {
  expect(english('Erreur SSH : le shell n’a pas commencé en 10 s')).toBe(
    'SSH error: the shell has not begun within 10 s',
  )
  expect(english('une page HTML est venue, et non module.json')).toBe('a page of HTML came, and not module.json')
  expect(english('La forge n’a pas laissé lire 2 dépôts : a, b')).toBe(
    'The forge did not let 2 of its repositories be read: a, b',
  )
})

test('a hostile text takes no longer to translate', () => {
  const hostile = [
    'le dépôt « '.repeat(180),
    '('.repeat(2_000),
    '« » '.repeat(500),
    ' '.repeat(1_999),
    'Erreur SSH : '.repeat(150),
    'x'.repeat(9_000_000),
  ]
  const began = performance.now()
  for (const text of hostile) for (let n = 0; n < 20; n += 1) english(text)

  expect(performance.now() - began).toBeLessThan(5_000)
})
