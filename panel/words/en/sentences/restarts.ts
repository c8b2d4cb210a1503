import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about services that still use replaced files, their restarts, and reboots of the host. */
export const restartSentences: readonly Pair[] = [
  ['Redémarrage du service lancé.', 'Restart of the service started.'],
  ['Redémarrage des services lancé.', 'Restart of the services started.'],
  ['Ce service n’est jamais redémarré seul : {}', 'This service is never restarted alone: {}'],
  [
    'tout le système communique par D-Bus, et perdrait ses connexions.',
    'the whole system talks over D-Bus, and would lose its connections.',
  ],
  [
    'c’est une partie de systemd, dont les autres services et les sessions dépendent.',
    'it is a part of systemd, on which other services and sessions depend.',
  ],
  ['les sessions ouvertes seraient fermées.', 'open sessions would be closed.'],
  ['des conteneurs s’arrêteraient avec lui.', 'containers would stop with it.'],
  ['les invités, leurs tâches ou la grappe dépendent de lui.', 'the guests, their tasks or the cluster depend on it.'],
  ['le réseau serait coupé, et l’accès avec lui.', 'the network would be cut, and with it the access.'],
  ['c’est le système lui-même.', 'it is the system itself.'],

  // Reboots
  ['Redémarrage de l’hôte demandé.', 'Reboot of the host requested.'],
  ['l’état de l’hôte est illisible', 'the state of the host is unreadable'],
  ['L’hôte a redémarré : {} → {}.', 'The host has rebooted: {} → {}.'],
  ['Attente des conteneurs qui tournaient…', 'Waiting for the containers that ran…'],
  ['Conteneurs de nouveau en marche : {} sur {}.', 'Containers running again: {} of {}.'],
  [
    'Le conteneur {} ({}) tournait avant le redémarrage et ne tourne plus.',
    'Container {} ({}) ran before the reboot and no longer runs.',
  ],
  ['Conteneurs qui ne tournent plus, en plus : {}.', 'Further containers that no longer run: {}.'],
  [
    'La liste des conteneurs qui tournaient avant le redémarrage manque.',
    'The list of the containers that ran before the reboot is missing.',
  ],
  [
    'Après le redémarrage, la liste des conteneurs n’a pas pu être lue.',
    'After the reboot, the list of the containers could not be read.',
  ],
  ['Le redémarrage a peut-être été demandé à l’hôte.', 'The host may have been asked to reboot.'],
  ['Le redémarrage n’a pas été demandé à l’hôte.', 'The host was not asked to reboot.'],
  [
    'Le redémarrage était déjà demandé à l’hôte : il a lieu quand même.',
    'The host had already been asked to reboot: it does so all the same.',
  ],
]
