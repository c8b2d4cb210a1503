import { expect, test } from 'vitest'
import { createTranslation, saidIn } from '../../../panel/nouns/from-service.ts'
import { createLines } from '../../../panel/nouns/lines.ts'
import { en, sentences } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'

test('service lines in an output are translated, and the host’s own lines stay', () => {
  const lines = createLines()
  lines.feed(
    [
      'Setting up web (2.0) ...',
      '[… 1048576 octets omis : la sortie dépasse 64 Mio …]',
      '[… 12 octets omis : le disque de l’hôte est plein …]',
      '[… 7 octets omis …]',
      'dpkg a été interrompu (LXC 101) : web, db, et 3 autres. La prochaine mise à jour répare d’abord.',
      'dpkg a été interrompu (hôte) : web. La prochaine mise à jour répare d’abord.',
      'L’état de dpkg n’a pas pu être lu (LXC 101, LXC 102).',
      'dpkg n’a rien laissé d’inachevé.',
      'dpkg n’a pas fini : web, db.',
      'Annulé par alice',
      'le disque de l’hôte est plein',
    ].join('\n'),
  )
  const english = saidIn(lines, createTranslation(sentences), en.output.marks)

  const shown = Array.from({ length: english.count() }, (_, n) => english.at(n).text)
  expect(shown).toEqual([
    'Setting up web (2.0) ...',
    '[… 1048576 bytes omitted: the output is longer than 64 MiB …]',
    '[… 12 bytes omitted: the host’s disk is full …]',
    '[… 7 bytes omitted …]',
    'dpkg was interrupted (LXC 101): web, db, and 3 more. The next upgrade repairs first.',
    'dpkg was interrupted (host): web. The next upgrade repairs first.',
    'The state of dpkg could not be read (LXC 101, LXC 102).',
    'dpkg left nothing unfinished.',
    'dpkg did not finish: web, db.',
    'Cancelled by alice',
    'le disque de l’hôte est plein',
  ])
  expect(english.text()).toBe(shown.join('\n'))
  // The stored line is unchanged.
  expect(lines.at(7).text).toBe('dpkg n’a rien laissé d’inachevé.')
})

test('the marks of the service’s programs are words, in the language of the reader', () => {
  const lines = createLines()
  lines.feed(
    [
      'ops-panel-0738b9ca34ebf63532677be3 lxc:107 0',
      ' manager apt-get',
      'ops-panel-0738b9ca34ebf63532677be3 end lxc:107',
      'ops-panel-plan: apt does exactly what was planned.',
      'ops-panel-plan differs',
      ' upgrade curl:amd64 1.0 2.0',
      'ops-panel-plan end',
      'ops-panel: rolling back to panel-1772366400-k3x9q2pa',
      'ops-panel: no snapshot: snapshot feature is not available',
      'Setting up ops-panel (0.2.0) ...',
      'ops-panel is a panel',
    ].join('\n'),
  )
  const shown = (of: ReturnType<typeof saidIn>) => Array.from({ length: of.count() }, (_, n) => of.at(n).text)

  expect(shown(saidIn(lines, (text) => text, fr.output.marks))).toEqual([
    '— lxc:107 —',
    ' manager apt-get',
    '',
    'apt fait exactement ce qui est prévu.',
    'Autre chose que ce qui est prévu allait être fait\u00a0:',
    ' upgrade curl:amd64 1.0 2.0',
    'Rien n’a été changé.',
    'Retour à panel-1772366400-k3x9q2pa',
    'Pas d’instantané\u00a0: snapshot feature is not available',
    'Setting up ops-panel (0.2.0) ...',
    'ops-panel is a panel',
  ])
  expect(shown(saidIn(lines, (text) => text, en.output.marks))).toContain('Nothing was changed.')
})
