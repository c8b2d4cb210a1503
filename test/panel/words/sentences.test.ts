import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sql as modules } from '../../../db/migrations/0006-modules.ts'
import { createTranslation } from '../../../panel/nouns/from-service.ts'
import { sentences } from '../../../panel/words/en/sentences.ts'
import { errorTable } from '../../../runtime/errors.ts'
import { frenchIn } from '../checks/french.ts'

const english = createTranslation(sentences)

/** Whose sentences reach a console or the log alone, or an answer that the panel does not show because a code tells it. */
const NOT_SHOWN = [
  /\.command\.ts$/,
  /^functions\/install\/(certificate-check|engine-check|wizard)\.ts$/,
  /^functions\/modules\/(console-switch|module|enable\.post|disable\.post)\.ts$/,
  /^functions\/registry\/(descriptor|install\.post|forge-files)\.ts$/,
  /^functions\/settings\/(fields|settings\.patch|public\.put)\.ts$/,
  /^functions\/(auth|dashboard|repair)\/.*\.(post|put|patch|delete)\.ts$/,
  /^functions\/hypervisor\/(action\.post|api-tasks)\.ts$/,
  /^functions\/updates\/(check(-report|-script)?|finding|host-helper|remedy-job|upgrade|(cancel|checks|remedies|run)\.post|targets\.get)\.ts$/,
  /^functions\/auth\/host-account\.ts$/,
  /^functions\/install\/install\.post\.ts$/,
  /^runtime\/(certificate|checked|command-line|config|errors|installed|log|elevation|identity-script|job-runner|link|main|remote-config|secrets|server)\.ts$/,
  /^runtime\/(service-manager|settings|storage|terminal|typed-command|whole-number|workers|function-instance|job-script)\.ts$/,
]
/** Names and parts of sentences that stand in none by themselves. */
const NO_SENTENCE = new Set([
  'En attente de la fin de la tâche {} ({}){}…',
  'aucune réponse de {} {} pour {}',

  'un nom de nœud',
  '{} est attendu',
  // Together: one sentence each in the list.
  '<adresse du panneau>',
  'des mots de passe faux, de qui que ce soit, ferment alors l’hôte à tous pendant un moment',
  'sshd (OpenSSH {}) peut écarter ce service : {}. {}',
  'sshd (OpenSSH {}) peut écarter ce service, et {} n’a pas le droit de lire s’il le fait : {}. Si ce n’est pas déjà fait : {}',
  'une règle sudo : {} ALL=(root) NOPASSWD: {}',
  '{} Installez ops-panel-host sur l’hôte (« ops-panel host helper » dit comment), et ajoutez {}',
  '{} Pour les limiter : ops-panel host helper.',
  '{} peut lancer apt-get par sudo, ce qui donne tous les droits de root.',
  '{} n’a pas les droits de mettre à jour.',
  '{} n’a par sudo que les droits qu’ops-panel-host lui donne (version {})',
  '{}. Il faut la version {} : {}',
  '{}. Ce n’est pas tout à fait celui de ce service : {}',
  'à temps',
  'déclaration {}{} : {}',
  'le dépôt « {} » {}',
])

const sources = globSync('{functions,runtime}/**/*.ts').filter((path) => !NOT_SHOWN.some((not) => not.test(path)))
const untold = (all: readonly string[]) =>
  all.filter((sentence) => !NO_SENTENCE.has(sentence) && english(filled(sentence)) === filled(sentence))
const filled = (sentence: string) => sentence.replaceAll(/\{\w*\}/g, 'x1')

test('what the service says in French beside a code has its English in panel/words/en/sentences.ts', () => {
  expect(sources.length).toBeGreaterThan(100)
  const missing = sources.flatMap((path) =>
    untold(frenchIn(path, readFileSync(path, 'utf8'))).map((sentence) => `${path}: ${sentence}`),
  )

  expect(missing).toEqual([])
})

test('so have the sentences of errors that the panel shows whole', () => {
  const shown = Object.entries(errorTable).filter(
    ([code, [, text]]) =>
      /\{(message|how|lock|nodes)\}/.test(text) || /^(internal|ssh_|storage|target_invalid)/.test(code),
  )

  expect(shown.length).toBeGreaterThan(15)
  expect(untold(shown.map(([, [, text]]) => text))).toEqual([])
})

test('and the names of the panel’s own modules', () => {
  const names = [...modules.matchAll(/'([^'\n]*[a-z][^'\n]*)'/g)]
    .map(([, name = '']) => name)
    .filter((name) => /^[A-Z]/.test(name))

  expect(names.length).toBeGreaterThan(8)
  expect(untold(names).filter((name) => !/^(Terminal|Modules|[A-Z ]+)$/.test(name))).toEqual([])
})

test('a sentence that is missing would be found', () => {
  const source =
    "throw new SshError('lost', `le câble de $" +
    "{host} est coupé`); const a = { summary: 'La santé' }; f('ssh-ed25519')"

  expect(frenchIn('a.ts', source)).toEqual(['le câble de {} est coupé'])
  expect(untold(['le câble de {} est coupé', 'la connexion a été perdue'])).toEqual(['le câble de {} est coupé'])
})

test('what stands in a sentence is translated too, and what is unknown stays as it is', () => {
  expect(english('Erreur SSH\u202f: pas de réponse de [::1]:22 en 10 s')).toBe(
    'SSH error: no answer from [::1]:22 within 10 s',
  )
  expect(
    english('L’hôte refuse root avec ce mot de passe\u202f; sshd doit autoriser root (PermitRootLogin yes).'),
  ).toBe('The host refuses root with this password; sshd has to let root in (PermitRootLogin yes).')
  expect(english('pct répond : 6 conteneurs.')).toBe('pct answers: 6 containers.')
  expect(english('pct répond : 1 conteneur.')).toBe('pct answers: 1 container.')
  expect(english('La forge n’a pas laissé lire 2 dépôts : a, b')).toBe(
    'The forge did not let 2 of its repositories be read: a, b',
  )
  expect(english('E: Unable to locate package x')).toBe('E: Unable to locate package x')
  expect(english('')).toBe('')
})

test('a text that means harm takes no longer than another', () => {
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
