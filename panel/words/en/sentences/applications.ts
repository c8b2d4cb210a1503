import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about applications beside the packages, and the runs that update them. */
export const applicationSentences: readonly Pair[] = [
  ['Script accepté.', 'Script agreed to.'],
  ['Accord retiré.', 'Agreement withdrawn.'],
  [
    'Ce que cette mise à jour exécute n’a pas pu être obtenu ({}) : {}',
    'What this update runs could not be fetched ({}): {}',
  ],
  ['Mise à jour de {} lancée.', 'Update of {} started.'],
  [
    'La mise à jour de l’application a été interrompue : vérifiez l’application.',
    'The update of the application was interrupted: look at the application.',
  ],
  [
    'Le script n’a pas noté de version : rien ne dit ce que la mise à jour a changé.',
    'The script notes no version: nothing tells what the update has changed.',
  ],
  [
    'La version est toujours {} : il n’y avait peut-être rien à mettre à jour.',
    'The version is still {}: perhaps there was nothing to update.',
  ],
  ['lire ce que la mise à jour d’une application exécute', 'read what the update of an application runs'],
  ['mettre à jour une application', 'update an application'],
  [
    'Se met à jour par son propre script, et non par les paquets : {}.',
    'Updated by a script of its own, not by packages: {}.',
  ],
  [
    'Une version plus récente de ces applications est proposée : {}.',
    'A newer version of these applications is available: {}.',
  ],
  ['Application non vérifiée — {}', 'Application not checked — {}'],
  ['{} : Docker Compose 2 manque.', '{}: Docker Compose 2 is missing.'],
  ['{} : ses conteneurs viennent de fichiers différents.', '{}: its containers were started from different files.'],
  ['{} : ses conteneurs ne disent pas où sont ses fichiers.', '{}: its containers do not tell where its files are.'],
  [
    '{} : Docker Compose ne peut pas lire ses fichiers ; « docker compose config » dit pourquoi, dans leur dossier.',
    '{}: Docker Compose cannot read its files; “docker compose config” tells why, in their folder.',
  ],
  ['{} : sa configuration n’a aucun service.', '{}: its configuration has no services.'],
  [
    '{} : ces variables viennent du terminal qui l’a lancé, et seraient vides : {}',
    '{}: these variables come from the terminal that started it, and would be empty: {}',
  ],
  ['{} : le service {} n’est plus dans ses fichiers.', '{}: the service {} is no longer in its files.'],
  ['{} : l’image {} n’est plus là.', '{}: the image {} is no longer there.'],
  ['{} : l’image de {} a un nom inhabituel.', '{}: the image of {} has an unusual name.'],
  ['{} : le registre n’a pas été interrogé pour {}.', '{}: the registry was not asked about {}.'],
  ['{} : le registre ne répond pas pour {}.', '{}: the registry does not answer about {}.'],
  ['{} : le moteur Docker ne tourne pas.', '{}: the Docker engine does not run.'],
  ['{} : il n’y a pas de place pour des fichiers temporaires.', '{}: there is no room for temporary files.'],
  ['{} : il y a trop de piles pour les vérifier toutes.', '{}: there are too many stacks to check them all.'],
  [
    '{} : ces images portent elles-mêmes des étiquettes de Docker Compose et sont ignorées : {}',
    '{}: these images bring labels of Docker Compose themselves, and are left out: {}',
  ],
  [
    '{} : les étiquettes du conteneur Docker {} ne peuvent pas être lues.',
    '{}: the labels of the Docker container {} cannot be read.',
  ],
  ['{} : une partie de sa réponse ne peut pas être lue.', '{}: a part of its answer cannot be read.'],
  ['{} : la liste de ce qui est installé ne le contient pas.', '{}: it is not in the list of what is installed.'],
  ['{} : la réponse n’est pas complète.', '{}: the answer is not complete.'],
  ['{} : aucune raison n’a été donnée.', '{}: no reason was given.'],
  ['{} : le fichier {} n’est pas là.', '{}: the file {} is not there.'],
]
