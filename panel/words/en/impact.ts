import { createTranslation } from '../../nouns/from-service.ts'
import { applicationSentences } from './sentences/applications.ts'

const NAMES: Readonly<Record<string, string>> = {
  'le panneau': 'the panel',
  'le panneau lui-même': 'the panel itself',
  'le moteur de conteneurs du panneau': 'the container engine of the panel',
  'le mandataire du panneau': 'the proxy of the panel',
  'la base de données du panneau': 'the database of the panel',
  'le relais vers l’hôte': 'the relay to the host',
  'le serveur SSH de l’hôte': 'the SSH server of the host',
  'les outils de l’hyperviseur': 'the tools of the hypervisor',
}

const CHANGE = /^La mise à jour change (.{1,400}?)\s: (.{1,100}?)\. /
const PLACE = /(?:^|\. )([A-Z][^.]{1,300}?) fonctionne(?:nt)? dans ce conteneur, qui/
const ON_HOST = /Le panneau fonctionne (sur cet hôte|dans les? conteneurs? ([\d, et]{1,200}) de cet hôte)\./
const NEWER = /^Une version plus récente du panneau est proposée\s: (\S{1,250}) \((\S{0,250}) installée\)/

/** The English of what a finding `self_impact` says. */
export function selfImpact(message: string): string {
  const [, things, away = ''] = CHANGE.exec(message) ?? []
  const [, parts] = PLACE.exec(message) ?? []
  const [, where, containers] = ON_HOST.exec(message) ?? []
  const sentences = [
    ...(things === undefined ? [] : [`The upgrade changes ${listed(things)}: ${awayOf(away)}.`]),
    ...(things === undefined ? [] : ['It goes on at the host, and its result comes back by itself.']),
    ...(parts === undefined
      ? []
      : [
          `${capital(listed(parts))} ${/ et |, /.test(parts) ? 'run' : 'runs'} in this container, which comes last when several targets are upgraded.`,
        ]),
    ...(message.includes('ramène aussi les données')
      ? ['A return to its snapshot takes the data of the panel back too.']
      : []),
    ...(where === undefined
      ? []
      : [
          `The panel runs ${containers === undefined ? 'on this host' : `in ${containersOf(containers)} of this host`}.`,
        ]),
  ]
  return sentences.length > 0
    ? sentences.join(' ')
    : 'The upgrade changes what the panel depends on: it may be away for a moment.'
}

const ofApplications = createTranslation([...applicationSentences, ['{} et {} autres', '{} and {} more']])

/** The English of a finding `application_update`: about applications, or about the panel itself. */
export function newerApplication(message: string): string {
  const told = ofApplications(message)
  if (told !== message) return told
  const [, to, from] = NEWER.exec(message) ?? []
  if (to === undefined) return 'A newer version of the panel is available.'
  return `A newer version of the panel is available: ${to}${from ? ` (${from} is installed)` : ''}.`
}

function awayOf(french: string): string {
  if (french.includes('le panneau et')) return 'the panel and the way to the host may be away for a moment'
  return french.includes('l’hôte')
    ? 'the way to the host may be cut for a moment'
    : 'the panel may be away for a moment'
}

function listed(french: string): string {
  const names = french.split(/, | et /).map((each) => NAMES[each.charAt(0).toLowerCase() + each.slice(1)] ?? '?')
  return joined(names)
}

function containersOf(french: string): string {
  const ids = french.split(/, | et /)
  return `${ids.length > 1 ? 'containers' : 'container'} ${joined(ids)}`
}

const joined = (parts: readonly string[]) =>
  parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : (parts[0] ?? '')
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
