/*
 * Shell functions with which the looks at applications ask foreign programs, and the reader of the problems that they tell.
 * The output of such a program may contain anything. The lines that go on to the service have `|` between the fields of a
 * line, and no other control character.
 */
export const ASKED = `
if timeout -k 5 60 true 2>/dev/null; then
  bounded() { timeout -k 5 "$@"; }
elif timeout 60 true 2>/dev/null; then
  bounded() { timeout "$@"; }
else
  bounded() { shift; "$@"; }
fi
# last_said FILE: the last line of a message, without credentials, control characters and separators
last_said() {
  [ ! -e "$1" ] || tail -c 4096 "$1" | tr -d '\\000' | tr '|[:cntrl:]' '/\\n' | grep -v '^ *$' | tail -n 1 |
    sed -e 's#://[^/@ ]*@#://#g' -e 's/^ *//' | cut -c 1-300
}
# problem NAME MESSAGE: what a look cannot tell, about one application, or about all of them with the name -
problem() { printf 'problem|%s|%s\\n' "$1" "\${2:-no reason was given}"; }
# in_work PREFIX: makes a folder for the files of this subshell, and removes it at its end
in_work() {
  work=$(mktemp -d "/tmp/ops-panel-$1-XXXXXXXX") && cd "$work" || return
  trap 'cd / && rm -rf "$work"' EXIT
  trap 'exit 143' HUP INT TERM
}
`

/** A thing that a look could not tell, about one application, or about all of its kind where `name` is null. */
export interface LookProblem {
  kind: 'community_script' | 'compose' | 'flatpak' | 'snap'
  name: string | null
  /** In the words of a look, or of the program that it has asked. */
  message: string
}

/** The words of the looks, and the sentence of each; the first gap of a sentence is the application. */
const SENTENCES: readonly (readonly [told: RegExp, sentence: string])[] = [
  [/^Docker Compose 2 is missing$/, '{} : Docker Compose 2 manque.'],
  [/^its containers were started from different files$/, '{} : ses conteneurs viennent de fichiers différents.'],
  [/^its containers do not tell where its files are$/, '{} : ses conteneurs ne disent pas où sont ses fichiers.'],
  [
    /^Docker Compose cannot read its files$/,
    '{} : Docker Compose ne peut pas lire ses fichiers ; « docker compose config » dit pourquoi, dans leur dossier.',
  ],
  [/^its configuration has no services$/, '{} : sa configuration n’a aucun service.'],
  [
    /^these variables come from the shell that started it: (.+)$/,
    '{} : ces variables viennent du terminal qui l’a lancé, et seraient vides : {}',
  ],
  [/^the service (\S+) is not in its files any more$/, '{} : le service {} n’est plus dans ses fichiers.'],
  [/^the image (\S+) is not there any more$/, '{} : l’image {} n’est plus là.'],
  [/^the image of (\S+) has no usual name$/, '{} : l’image de {} a un nom inhabituel.'],
  [/^(\S+): the registry was not asked$/, '{} : le registre n’a pas été interrogé pour {}.'],
  [/^(\S+): no answer within 10 s$/, '{} : le registre ne répond pas pour {}.'],
  [/^the Docker engine does not run$/, '{} : le moteur Docker ne tourne pas.'],
  [/^there is no room for temporary files$/, '{} : il n’y a pas de place pour des fichiers temporaires.'],
  [/^there are more stacks than a look asks about$/, '{} : il y a trop de piles pour les vérifier toutes.'],
  [
    /^images with labels of Docker Compose are left out: (.+)$/,
    '{} : ces images portent elles-mêmes des étiquettes de Docker Compose et sont ignorées : {}',
  ],
  [
    /^the labels of the container (\S+) cannot be read$/,
    '{} : les étiquettes du conteneur Docker {} ne peuvent pas être lues.',
  ],
  [/^some of its lines cannot be read$/, '{} : une partie de sa réponse ne peut pas être lue.'],
  [/^it was not in the list of what is installed$/, '{} : la liste de ce qui est installé ne le contient pas.'],
  [/^the look was not whole$/, '{} : la réponse n’est pas complète.'],
  [/^no reason was given$/, '{} : aucune raison n’a été donnée.'],
  // After the others: an address of a file is any text.
  [/^(\/.+) is not there$/, '{} : le fichier {} n’est pas là.'],
]

/** Returns the sentence for a problem; the words of a foreign program stay as they are. */
export function problemSentence({ kind, name, message }: LookProblem): string {
  const who = name ?? kind
  for (const [told, sentence] of SENTENCES) {
    const found = told.exec(message)
    if (!found) continue
    const gaps = [who, ...found.slice(1)]
    return sentence.replaceAll('{}', () => gaps.shift() ?? '')
  }
  return `${who} : ${message}`
}
