import type { Lines } from './lines.ts'

/** What the service itself has added to the host's output. A line of the host's that looks the same says the same. */
const OF_SERVICE =
  /^(En attente de la fin de la tâche |Annulé par |Erreur SSH\s: |\[… \d+ octets omis|dpkg a été interrompu \(|dpkg n’a (rien laissé|pas fini)|L’état de dpkg n’a pas pu être lu)/

/** An output in which the lines of the service are in the language of who looks; those of the host are as they are. */
export function saidIn(lines: Lines, translate: (text: string) => string): Lines {
  const said = (text: string) => (OF_SERVICE.test(text) ? translate(text) : text)
  return {
    ...lines,
    at(index) {
      const line = lines.at(index)
      const text = said(line.text)
      return text === line.text ? line : { text }
    },
    text: () => lines.text().split('\n').map(said).join('\n'),
  }
}
