/**
 * The French sentences of the service that events contain, with their English. `{}` stands for an inserted text, which is
 * translated too when it is a sentence. The panel has the same pairs; another sentence stays French.
 */
export const PAIRS: readonly (readonly [french: string, english: string])[] = [
  ['Le service {} ne tourne plus.', 'Unit {} does not run any more.'],
  ['Le service {} est en échec{}.', 'Unit {} has failed{}.'],
  ['Le port {} n’écoute plus{}.', 'Port {} does not listen any more{}.'],
  ['Docker ne répond plus.', 'Docker does not answer any more.'],
  ['Le conteneur Docker {} ne tourne plus{}.', 'Docker container {} does not run any more{}.'],
  ['Podman ne répond plus.', 'Podman does not answer any more.'],
  ['Le conteneur Podman {} ne tourne plus{}.', 'Podman container {} does not run any more{}.'],
  ['La sonde {} échoue{}.', 'Probe {} fails{}.'],
  ['Le conteneur {} ne répond plus.', 'Container {} does not answer any more.'],
  ['noyau {} installé, {} en service', 'kernel {} installed, {} running'],
  ['Erreur SSH : {}', 'SSH error: {}'],
  ['pas de réponse de {}:{} en {} s', 'no answer from {}:{} within {} s'],
  ['la connexion a été perdue', 'the connection was lost'],
  ['la connexion a été perdue ({})', 'the connection was lost ({})'],
  ['la connexion a été fermée', 'the connection was closed'],
  ['la connexion a été coupée avant l’échange de clés', 'the connection was cut before the key exchange'],
  ['la connexion a échoué', 'the connection failed'],
  ['la clé de l’hôte a changé : {} au lieu de {}', 'the host key has changed: {} instead of {}'],
  ['authentification refusée pour {}', 'authentication refused for {}'],
  ['l’hôte n’a pas répondu en {} s', 'the host did not answer within {} s'],
  ['l’hôte n’a pas ouvert de canal à temps', 'the host did not open a channel in time'],
  ['l’hôte a redémarré avant la fin de la tâche', 'the host rebooted before the job ended'],
  ['la tâche a été arrêtée de force sur l’hôte', 'the job was killed on the host'],
  ['L’hôte SSH n’est pas configuré.', 'The SSH host is not configured.'],
  [
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et le mot de passe sont nécessaires (« ops-panel settings set » sur la console du service).',
    'The SSH settings are incomplete: they need a host, a user and a password (“ops-panel settings set” on the service’s console).',
  ],
  [
    'Le mot de passe SSH enregistré ne peut pas être déchiffré. Saisissez-le à nouveau (« ops-panel settings set ssh_password » sur la console du service).',
    'The stored SSH password cannot be decrypted. Enter it again (“ops-panel settings set ssh_password” on the service’s console).',
  ],
  [
    'Ce qui allait être fait n’est plus ce que le plan annonçait : rien n’a été changé. Faites un nouveau plan.',
    'The upgrade would no longer have been that of the plan: nothing was changed. Make a new plan.',
  ],
  [
    'La mise à jour s’est arrêtée avant de changer quoi que ce soit ; sa sortie dit pourquoi. Revérifiez, puis faites un nouveau plan.',
    'The upgrade stopped before it changed anything; its output says why. Check again, then make a new plan.',
  ],
  [
    'Des paquets ont été changés sans que le plan ait pu être comparé, ou autrement que prévu. Vérifiez la sortie.',
    'Packages were changed without a comparison with the plan, or otherwise than planned. Check the output.',
  ],
  [
    'La protection demandée n’a pas pu être mise en place : rien n’a été mis à jour. La sortie dit pourquoi.',
    'The protection that was asked for could not be made: nothing was upgraded. The output says why.',
  ],
  ['Le retour en arrière n’est pas possible : {}', 'Rolling back is not possible: {}'],
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
  ['Son code ne s’est pas terminé et a bloqué le service{}.', 'Its code did not return and blocked the service{}.'],
  [
    'Un appel de son code au système ne s’est pas terminé et a bloqué le service.',
    'A system call of its code did not return and blocked the service.',
  ],
  ['Son code a pris trop de mémoire{}.', 'Its code took too much memory{}.'],
  ['Son code a arrêté le service{}.', 'Its code ended the service{}.'],
  [
    'Le service s’est arrêté ou bloqué sans que la cause soit connue : ce module, modifié en dernier, est mis à l’écart.',
    'The service ended or was blocked for an unknown reason, so this module, which was changed last, was taken out.',
  ],
  ['{} Mio', '{} MiB'],
  ['{} Gio', '{} GiB'],
  ['{} Mo', '{} MB'],
  ['{} Go', '{} GB'],
]

const sentences = PAIRS.map(([french, english]) => ({ parts: french.split('{}'), english }))

/** Sentences inside sentences. */
const DEPTH = 2

/** Returns the English of a sentence of the service; another text as it is. */
export function english(text: string): string {
  return translated(text, DEPTH)
}

function translated(text: string, depth: number): string {
  if (depth === 0) return text
  for (const { parts, english: to } of sentences) {
    const gaps = gapsOf(text, parts)
    if (!gaps) continue
    const [first = '', ...rest] = to.split('{}')
    return first + rest.map((part, at) => inEnglish(gaps[at] ?? '', depth - 1) + part).join('')
  }
  return text
}

/** A number as French writes it, with a comma before its decimals. */
const DECIMAL = /^\d+,\d+$/

function inEnglish(text: string, depth: number): string {
  return DECIMAL.test(text) ? text.replace(',', '.') : translated(text, depth)
}

/** The texts between these parts; undefined unless the first part begins the text and the last one ends it. */
function gapsOf(text: string, [first = '', ...others]: readonly string[]): string[] | undefined {
  if (others.length === 0) return text === first ? [] : undefined
  if (!text.startsWith(first)) return undefined
  const gaps: string[] = []
  let at = first.length
  for (const [n, part] of others.entries()) {
    const next = n === others.length - 1 ? text.length - part.length : text.indexOf(part, at)
    if (next < at || !text.startsWith(part, next)) return undefined
    gaps.push(text.slice(at, next))
    at = next + part.length
  }
  return gaps
}
