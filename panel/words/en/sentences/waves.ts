import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about the runs of schedules: why a target was left alone, why a schedule was disabled, and signals that did not arrive. */
export const waveSentences: readonly Pair[] = [
  ['la planification « {} »', 'the schedule “{}”'],
  [
    'Le conteneur est arrêté : il n’est pas démarré pour cela.',
    'The container is stopped: it is not started for this.',
  ],
  ['L’hôte n’a pas de conteneur avec ce numéro.', 'The host has no container with this number.'],
  ['Aucun conteneur n’a cette étiquette.', 'No container has this tag.'],
  [
    'Une vague a au plus {} cibles : les suivantes ne sont pas faites.',
    'A wave has at most {} targets: those after them are left out.',
  ],
  [
    'Les étiquettes des conteneurs ne sont pas connues : il faut un jeton de l’API de l’hyperviseur, dans les réglages.',
    'The tags of the containers are not known: a token of the hypervisor’s API is needed, in the settings.',
  ],
  ['Les étiquettes des conteneurs ne sont pas connues : {}', 'The tags of the containers are not known: {}'],
  ['Le plan a échoué : {}', 'The plan failed: {}'],
  ['L’exécution s’était arrêtée.', 'The run had stopped.'],
  ['L’exécution avait été annulée.', 'The run had been cancelled.'],
  ['La plage s’était fermée.', 'The window had closed.'],
  // As former versions have stored them.
  ['Le déroulement s’était arrêté.', 'The run had stopped.'],
  ['Le déroulement avait été annulé.', 'The run had been cancelled.'],
  ['La fenêtre s’était fermée.', 'The window had closed.'],
  ['La tâche n’est plus là.', 'The job is no longer there.'],
  [
    'La tâche ne finit pas : elle n’est plus attendue, et sa page dit où elle en est.',
    'The job does not end: it is no longer waited for, and its page says how far it is.',
  ],
  ['La cible n’a pas répondu.', 'The target did not answer.'],
  ['Son propriétaire n’a plus de compte dans le panneau.', 'Its owner no longer has an account in the panel.'],
  [
    'Le compte {}, à qui elle est, n’est plus admis sur l’hôte.',
    'The account {}, which owns it, is no longer admitted to the host.',
  ],
  [
    'Le compte {}, à qui elle est, ne peut plus travailler sur l’hôte.',
    'The account {}, which owns it, can no longer work on the host.',
  ],
  [
    'Le compte {}, à qui elle est, n’est plus administrateur.',
    'The account {}, which owns it, is no longer an administrator’s.',
  ],
  [
    'L’adresse à signaler redirige (HTTP {}) : les redirections ne sont pas suivies.',
    'The address to ping redirects (HTTP {}): redirects are not followed.',
  ],
  ['L’adresse à signaler a répondu HTTP {}.', 'The address to ping answered HTTP {}.'],
  ['L’adresse à signaler n’a pas répondu à temps.', 'The address to ping did not answer in time.'],
  ['L’adresse à signaler ne répond pas ({}).', 'The address to ping does not answer ({}).'],
  [
    'L’adresse à signaler ne peut pas être déchiffrée : saisissez-la de nouveau.',
    'The address to ping cannot be decrypted: enter it again.',
  ],
  [
    'Ce que sa dernière mise à jour a cassé ne fonctionne toujours pas, et personne n’a décidé : revenez en arrière ou gardez-la.',
    'Its last upgrade broke something that still does not work, and nobody has decided: roll back, or keep it.',
  ],
  [
    'Le gestionnaire de paquets ne dit pas quelles mises à jour corrigent une faille, et aucune liste de failles de cette distribution n’est enregistrée.',
    'The package manager does not tell which updates fix a vulnerability, and no list of vulnerabilities of this distribution is stored.',
  ],
  ['La vérification n’a pas abouti.', 'The check did not succeed.'],
  ['Les listes de paquets n’ont pas été relues : {}', 'The package lists were not read again: {}'],
]
