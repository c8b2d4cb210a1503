import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about schedules: their patterns of times, their waves, and what is said when they change. */
export const scheduleSentences: readonly Pair[] = [
  ['au plus {} caractères', 'at most {} characters'],
  [
    'les raccourcis comme @daily ne sont pas acceptés : écrivez les cinq champs, par exemple « 0 3 * * * »',
    'shortcuts such as @daily are not accepted: write the five fields, for example “0 3 * * *”',
  ],
  [
    'cinq champs sont attendus (minute, heure, jour du mois, mois, jour de la semaine), et il y en a {}',
    'five fields are expected (minute, hour, day of the month, month, day of the week), and there are {}',
  ],
  ['jour du mois (3e champ)', 'day of the month (3rd field)'],
  ['jour de la semaine (5e champ)', 'day of the week (5th field)'],
  ['minute (1er champ) : {}', 'minute (1st field): {}'],
  ['heure (2e champ) : {}', 'hour (2nd field): {}'],
  ['jour du mois (3e champ) : {}', 'day of the month (3rd field): {}'],
  ['mois (4e champ) : {}', 'month (4th field): {}'],
  ['jour de la semaine (5e champ) : {}', 'day of the week (5th field): {}'],
  ['cette date n’arrive jamais', 'this date never comes'],
  ['le pas « {} » n’est pas un nombre de 1 à {}', 'the step “{}” is not a number from 1 to {}'],
  ['un pas suit « * » ou un intervalle, comme */5 ou 10-50/5', 'a step follows “*” or a range, as in */5 or 10-50/5'],
  ['{} n’est pas entre {} et {}', '{} is not between {} and {}'],
  ['l’intervalle « {} » est à l’envers', 'the range “{}” is backwards'],
  [
    '« {} » n’est pas valable ; sont permis les nombres de {} à {}{}, et les signes * , - /',
    '“{}” is not valid; numbers from {} to {}{} are allowed, and the signs * , - /',
  ],
  [', les noms {} à {}', ', the names {} to {}'],
  ['un fuseau horaire, comme Europe/Paris', 'a time zone, such as Europe/Paris'],
  ['un nom visible, sans caractère de contrôle', 'a visible name, without control characters'],
  [
    'une adresse http: ou https: sans identifiants, requête ni fragment',
    'an http: or https: address without credentials, query or fragment',
  ],
  ['une seule vague peut être « le reste »', 'only one wave can be “the rest”'],
  ['{} est nommé deux fois', '{} is named twice'],
  [
    'une vérification ne redémarre rien : choisissez une mise à jour, ou « never »',
    'a check reboots nothing: choose an upgrade, or “never”',
  ],
  [
    'l’hôte n’est dans aucune vague : il ne serait jamais redémarré',
    'the host is in no wave: it would never be rebooted',
  ],
  ['Planification supprimée.', 'Schedule deleted.'],
  ['Exécution lancée.', 'Run started.'],
  [
    'Annulation demandée : les tâches en cours vont à leur fin.',
    'Cancellation requested: jobs that run go on to their end.',
  ],
]
