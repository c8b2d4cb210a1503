import type { Pair } from '../../../nouns/from-service.ts'

/**
 * Findings that are the reason why a target of a schedule had no plan. Where a finding stands by itself, its English is in
 * words/en/findings.ts.
 */
export const findingSentences: readonly Pair[] = [
  [
    'Des correctifs de sécurité attendent des dépendances que les dépôts n’offrent pas.',
    'Security fixes wait for dependencies that the repositories do not offer.',
  ],
  [
    'Cette cible a plus de {} dépôts : le panneau n’en lit pas autant, et {} ne met rien à jour sans les listes de tous.',
    'This target has more than {} repositories: the panel reads no more, and {} upgrades nothing without the lists of all.',
  ],
  [
    'Cette cible a plus de {} dépôts : les autres n’ont pas été actualisés.',
    'This target has more than {} repositories: the others were not refreshed.',
  ],
  [
    '{} n’a que {}, avec lequel rien ne peut être prévu ni vérifié : installez dnf.',
    '{} has only {}, with which nothing can be foreseen or verified: install dnf.',
  ],
  [
    '{} se met à jour par {}, que le panneau ne connaît pas : il sait se servir d’apt, d’apk, de dnf, de zypper et de pacman.',
    '{} upgrades itself by {}, which the panel does not know: it can use apt, apk, dnf, zypper and pacman.',
  ],
  [
    '{} n’a aucun gestionnaire de paquets que le panneau connaît : il sait se servir d’apt, d’apk, de dnf, de zypper et de pacman.',
    '{} has no package manager that the panel knows: it can use apt, apk, dnf, zypper and pacman.',
  ],
  [
    '{} met toujours tout à jour ensemble : une partie seulement laisserait un système incohérent.',
    '{} always upgrades everything together: a part of it would leave an inconsistent system.',
  ],
  ['{} ne dit pas quelles mises à jour corrigent une faille.', '{} does not tell which updates fix a vulnerability.'],
  [
    'Cette version de {} ne permet pas de savoir d’avance ce qu’une mise à jour changerait.',
    'This version of {} cannot tell beforehand what an upgrade would change.',
  ],
  ['{} refuse la mise à jour : {}', '{} refuses the upgrade: {}'],
  [
    'Une préférence d’apt impose une version plus ancienne de {} : apt refuse toute mise à jour.',
    'A preference of apt forces an older version of {}: apt refuses every upgrade.',
  ],
  [
    'Des dépendances ne sont pas satisfaites : apt refuse toute mise à jour.',
    'Dependencies are not satisfied, so apt refuses every upgrade.',
  ],
  ['Des dépendances ne sont pas satisfaites ({}) : {}', 'Dependencies are not satisfied ({}): {}'],
  [
    'dpkg n’a pas fini : la prochaine mise à jour répare d’abord.',
    'dpkg did not finish; the next upgrade repairs first.',
  ],
  ['{} n’a pas fini son dernier travail : {}', '{} did not finish its last work: {}'],
  [
    'Le système de fichiers est en lecture seule : rien ne peut être installé.',
    'The file system is read-only: nothing can be installed.',
  ],
  ['{} en lecture seule : rien ne peut être installé.', 'Read-only: {}. Nothing can be installed.'],
  ['Le dépôt {} n’a pas pu être lu : {}', 'Repository {} could not be read: {}'],
  ['Le dépôt {} n’a pas pu être lu ({}, code {}) : {}', 'Repository {} could not be read ({}, code {}): {}'],
  [
    'Le dépôt {} a changé de nom ou de version, acceptez-le si vous l’attendiez : {}',
    'Repository {} changed its name or release, accept it if you expected that: {}',
  ],
  [
    'Le dépôt {} n’a pas de signature reconnue, installez sa clé ou retirez-le : {}',
    'The signature of repository {} is not recognized, install its key or remove it: {}',
  ],
  [
    'Le dépôt {} n’a pas de signature reconnue, installez sa clé ou retirez-le ({}, code {}) : {}',
    'The signature of repository {} is not recognized, install its key or remove it ({}, code {}): {}',
  ],
  [
    'Le dépôt {} a des listes ou une clé qui ne sont plus valables : {}',
    'The lists or the key of repository {} have expired: {}',
  ],
  [
    'Le dépôt {} a des listes ou une clé qui ne sont plus valables ({}, code {}) : {}',
    'The lists or the key of repository {} have expired ({}, code {}): {}',
  ],
  [
    'Les listes de paquets n’ont pas pu être actualisées ({}, code {}).',
    'The package lists could not be refreshed ({}, code {}).',
  ],
  ['Les listes de paquets n’ont pas pu être actualisées : {}', 'The package lists could not be refreshed: {}'],
  ['Les listes de paquets n’ont pas pu être actualisées.', 'The package lists could not be refreshed.'],
  ['Les listes de paquets manquent ou ont plus d’un jour.', 'The package lists are missing or more than a day old.'],
  ['Aucun dépôt n’a répondu : le réseau semble manquer.', 'No repository answered: the network seems to be missing.'],
  ['Aucune liste de paquets n’a pu être lue.', 'No package list could be read.'],
  ['Le compte de service ne peut pas lire {}.', 'The service account cannot read {}.'],
  ['apt ne peut pas lire sa configuration : {}', 'apt cannot read its configuration: {}'],
  [
    'Cette cible n’a jamais été vérifiée : ses listes de paquets sont peut-être anciennes.',
    'This target has never been checked: its package lists may be old.',
  ],
  [
    '{} est déjà en cours d’exécution. Revérifiez quand il aura fini.',
    '{} is already running. Check again when it has finished.',
  ],
  [
    'La place manque sur {} : la mise à jour demande {}, il reste {}.',
    'There is not enough space on {}: the upgrade needs {}, and {} are left.',
  ],
  [
    'Il ne reste presque plus de place sur {} : {} après la mise à jour.',
    'Almost no space is left on {}: {} after the upgrade.',
  ],
  ['{},{} Mio', '{}.{} MiB'],
  ['{},{} Gio', '{}.{} GiB'],
  ['{} Mio', '{} MiB'],
  ['{} Gio', '{} GiB'],
  ['{},{} Mo', '{}.{} MB'],
  ['{},{} Go', '{}.{} GB'],
  ['{} Mo', '{} MB'],
  ['{} Go', '{} GB'],
]
