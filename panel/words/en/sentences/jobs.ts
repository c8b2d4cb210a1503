import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about jobs and terminals, and the lines that the service adds to the output of a job. */
export const jobSentences: readonly Pair[] = [
  // Plans
  [
    'Le plan n’a pas pu être lu : la réponse de la cible n’est pas celle attendue.',
    'The plan could not be read: the answer of the target is not the expected one.',
  ],
  // As former versions have stored it.
  [
    'Le plan n’a pas pu être lu : cette cible n’a aucun gestionnaire de paquets connu, ou sa réponse n’est pas celle attendue.',
    'The plan could not be read: this target has no known package manager, or its answer is not the expected one.',
  ],

  // Jobs and terminals
  ['Cible invalide : {}', 'Invalid target: {}'],
  ['Annulé par {}', 'Cancelled by {}'],
  ['Une erreur interne est survenue.', 'An internal error occurred.'],
  ['La base de données ne répond pas.', 'The database does not answer.'],
  ['la tâche n’a pas démarré (code {})', 'the job did not start (exit code {})'],
  ['le dossier de la tâche a disparu de l’hôte', 'the job’s folder has disappeared from the host'],
  [
    'la tâche appartient à un autre compte de l’hôte que celui des réglages',
    'the job belongs to a different account on the host from the one in the settings',
  ],
  [
    'le code de sortie de la tâche n’a pas pu être écrit (disque plein ?)',
    'the job’s exit code could not be written (disk full?)',
  ],
  [
    'la tâche a été interrompue sur l’hôte (arrêt forcé ou redémarrage)',
    'the job was interrupted on the host (killed or restarted)',
  ],
  [
    'les fichiers de démarrage du compte de service affichent trop de texte',
    'the startup files of the service account print too much text',
  ],
  ['Le conteneur {} n’existe pas.', 'Container {} does not exist.'],
  ['Le conteneur {} n’est pas démarré.', 'Container {} is not running.'],
  ['Le terminal a été fermé après {} min d’inactivité.', 'The terminal was closed after {} min of inactivity.'],
  ['La connexion avec l’hôte a été perdue.', 'The connection to the host was lost.'],
  ['Le conteneur s’est arrêté.', 'The container has stopped.'],
  ['Le shell a été arrêté par un signal ({}).', 'The shell was stopped by a signal ({}).'],
  ['le shell n’a pas démarré', 'the shell did not start'],
  ['le shell n’a pas pu démarrer', 'the shell could not start'],
  ['le shell n’a pas démarré en {} s', 'the shell did not start within {} s'],
  ['sudo refuse le mot de passe du compte de service', 'sudo rejects the password of the service account'],
  ['le client s’est déconnecté', 'the client disconnected'],

  // Lines that the service adds to a job’s output
  ['En attente de la fin de la tâche {} ({})…', 'Waiting for job {} ({}) to end…'],
  ['En attente de la fin de la tâche {} ({}) et de {} autre{}…', 'Waiting for job {} ({}) and {} other{} to end…'],
  ['[… {} octets omis …]', '[… {} bytes omitted …]'],
  ['[… {} octets omis : {} …]', '[… {} bytes omitted: {} …]'],
  ['la sortie dépasse {} Mio', 'the output is longer than {} MiB'],
  ['le disque de l’hôte est plein', 'the host’s disk is full'],
  [
    'dpkg a été interrompu ({}) : {}. La prochaine mise à jour répare d’abord.',
    'dpkg was interrupted ({}): {}. The next upgrade repairs first.',
  ],
  ['L’état de dpkg n’a pas pu être lu ({}).', 'The state of dpkg could not be read ({}).'],
  ['{} n’a pas fini son travail ({}) : {}.', '{} did not finish its work ({}): {}.'],
  ['{} n’a pas pu dire ce qu’il a laissé ({}).', '{} could not tell what it has left ({}).'],
  ['Aucun gestionnaire de paquets n’a rien laissé d’inachevé.', 'No package manager left anything unfinished.'],
  ['{} n’a rien laissé d’inachevé.', '{} left nothing unfinished.'],
  ['dpkg n’a pas fini : {}.', 'dpkg did not finish: {}.'],
  // Warnings of an upgrade
  [
    'Le dépôt {} n’a pas pu être actualisé : ce qu’il propose de nouveau n’a pas été installé.',
    'Repository {} could not be refreshed: its newest updates were not installed.',
  ],
  [
    'Des dépôts n’ont pas pu être actualisés : ce qu’ils proposent de nouveau n’a pas été installé.',
    'Some repositories could not be refreshed: their newest updates were not installed.',
  ],
  [
    'LXC {} : des dépôts n’ont pas pu être actualisés, et ce qu’ils proposent de nouveau n’a pas été installé.',
    'LXC {}: some repositories could not be refreshed, and their newest updates were not installed.',
  ],
  ['hôte', 'host'],
  ['{} et {} autres', '{} and {} more'],
  ['{} et 1 autre', '{} and 1 more'],
]
