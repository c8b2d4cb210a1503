import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about the connection to the host, the checks of the setup page and the hypervisor. */
export const hostSentences: readonly Pair[] = [
  // The host
  ['noyau {} installé, {} en service', 'kernel {} installed, {} running'],
  ['Erreur SSH : {}', 'SSH error: {}'],
  ['pas de réponse de {}:{} en {} s', 'no answer from {}:{} within {} s'],
  ['la connexion a été perdue', 'the connection was lost'],
  ['la connexion a été perdue ({})', 'the connection was lost ({})'],
  ['la connexion a été fermée', 'the connection was closed'],
  ['la connexion a été coupée avant l’échange de clés', 'the connection was cut before the key exchange'],
  ['la connexion a échoué', 'the connection failed'],
  ['la clé de l’hôte a changé : {} au lieu de {}', 'the host key has changed: {} instead of {}'],
  ['aucune clé n’a été présentée', 'no key was presented'],
  ['authentification refusée pour {}', 'authentication refused for {}'],
  [
    'l’hôte a mis fin à la connexion de {} (compte expiré ?)',
    'the host closed the connection of {} (expired account?)',
  ],
  ['l’hôte n’a pas ouvert de canal à temps', 'the host did not open a channel in time'],
  ['l’hôte refuse d’exécuter une commande ({})', 'the host refused to run a command ({})'],
  ['l’hôte n’a pas répondu en {} s', 'the host did not answer within {} s'],
  ['la commande n’a pas répondu en {} s', 'the command did not answer within {} s'],
  ['la réponse de la commande est trop longue', 'the command’s answer is too long'],
  ['la commande s’est terminée avec le code {}', 'the command ended with exit code {}'],
  ['trop de commandes sont en cours sur l’hôte', 'too many commands are running on the host'],
  ['trop de commandes de ce compte sont en cours sur l’hôte', 'this account is running too many commands on the host'],
  ['{} ne peut exécuter aucune commande', '{} cannot run any command'],
  [
    'l’hôte refuse pour l’instant les connexions de ce service, après des mots de passe incorrects ou trop de connexions à la fois',
    'the host is refusing connections from this service for now, after wrong passwords or too many connections at once',
  ],
  [
    'L’hôte refuse pour l’instant les connexions de ce service, après des mots de passe incorrects ou trop de connexions à la fois',
    'The host is refusing connections from this service for now, after wrong passwords or too many connections at once',
  ],
  [
    'Connexion impossible : l’hôte SSH refuse pour l’instant les connexions de ce service, après des mots de passe incorrects ou trop de connexions à la fois. Réessayez dans une minute.',
    'No connection: the SSH host is refusing connections from this service for now, after wrong passwords or too many connections at once. Try again in a minute.',
  ],
  ['l’hôte n’a pas indiqué qui est ce compte', 'the host did not identify this account'],
  ['l’hôte n’a pas indiqué en {} s qui est {}', 'the host did not identify {2} within {1} s'],
  ['Réponse inutilisable : {}.', 'Unusable answer: {}.'],
  ['une ligne de {} caractères', 'a line of {} characters'],
  ['{} éléments', '{} items'],
  ['elle compte plus de {} éléments', 'it has more than {} items'],
  [
    'L’hôte actuel ne peut pas vérifier votre mot de passe ({}). Sur la console du serveur : ops-panel settings set.',
    'The current host cannot check your password ({}). On the server’s console: ops-panel settings set.',
  ],
  ['les réglages ont changé entre-temps', 'the settings changed in the meantime'],
  ['le service s’arrête', 'the service is stopping'],
  ['l’état de l’hôte est illisible ({})', 'the state of the host cannot be read ({})'],
  ['Connexion impossible : l’hôte SSH ne répond pas.', 'No connection: the SSH host does not answer.'],
  ['L’hôte SSH n’est pas configuré.', 'The SSH host is not configured.'],
  [
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et le mot de passe sont nécessaires (« ops-panel settings set » sur la console du service).',
    'The SSH settings are incomplete: they need a host, a user and a password (“ops-panel settings set” on the service’s console).',
  ],
  [
    'Le mot de passe SSH enregistré ne peut pas être déchiffré. Saisissez-le à nouveau (« ops-panel settings set ssh_password » sur la console du service).',
    'The stored SSH password cannot be decrypted. Enter it again (“ops-panel settings set ssh_password” on the service’s console).',
  ],

  // The checks of the setup page
  ['L’hôte ne peut pas être utilisé : {}', 'The host cannot be used: {}'],
  ['L’hôte répond à {}.', 'The host answers at {}.'],
  ['{} s’est connecté.', '{} signed in.'],
  [
    'il lui faut un shell, et un mot de passe qui n’est pas à changer',
    'it needs a shell, and a password that is not due for a change',
  ],
  [
    'La connexion a été perdue pendant la vérification ({}). Réessayez.',
    'The connection was lost during the check ({}). Try again.',
  ],
  [
    'Aucun serveur SSH ne répond à {} ({}). Vérifiez l’adresse, le port et le pare-feu.',
    'No SSH server answers at {} ({}). Check the address, the port and the firewall.',
  ],
  [
    'Une autre clé que celle indiquée répond à {} ({}). Comparez-la, sur l’hôte, à celle de ssh-keygen -lf.',
    '{} answers with a different key from the one given ({}). Compare it with the output of ssh-keygen -lf on the host.',
  ],
  ['sshd doit autoriser root (PermitRootLogin yes)', 'sshd must allow root (PermitRootLogin yes)'],
  ['le compte peut être expiré ou verrouillé', 'the account may be expired or locked'],
  ['L’hôte refuse {} avec ce mot de passe ; {}.', 'The host rejects {} with this password; {}.'],
  ['{} se connecte mais ne peut exécuter aucune commande ({}).', '{} signs in but cannot run any command ({}).'],
  ['Pas encore vérifié : {}.', 'Not checked yet: {}.'],
  ['l’hôte', 'the host'],
  ['la connexion', 'the sign-in'],
  ['les droits', 'the rights'],
  ['Les droits de {} n’ont pas pu être lus ({}).', 'The rights of {} could not be read ({}).'],
  ['{} est root.', '{} is root.'],
  ['{} a tous les droits par sudo, sans mot de passe.', '{} has all rights through sudo, without a password.'],
  ['{} a tous les droits par sudo, avec son mot de passe.', '{} has all rights through sudo, with its password.'],
  [
    '{} peut lancer apt-get par sudo, ce qui donne tous les droits de root. {}',
    '{} may run apt-get through sudo, which grants all rights of root. {}',
  ],
  ['Pour les limiter : ops-panel host helper.', 'To limit them: ops-panel host helper.'],
  ['{} n’a pas les droits de mettre à jour. {}', '{} does not have the rights to upgrade. {}'],
  [
    'Sur l’hôte, {} n’est pas utilisé, car d’autres comptes que root peuvent le modifier : chown root:root {} ; chmod 755 {}',
    'On the host, {} is ignored because accounts other than root can modify it: chown root:root {} ; chmod 755 {}',
  ],
  ['Ajoutez une règle sudo : {}', 'Add a sudo rule: {}'],
  [
    'Installez ops-panel-host sur l’hôte (« ops-panel host helper » dit comment), et ajoutez une règle sudo : {}',
    'Install ops-panel-host on the host (see “ops-panel host helper”), and add a sudo rule: {}',
  ],
  [
    '{} n’a par sudo que les droits qu’ops-panel-host lui donne (version {}).',
    '{} has only the rights that ops-panel-host gives it through sudo (version {}).',
  ],
  [
    '{} n’a par sudo que les droits qu’ops-panel-host lui donne (version {}). {}',
    '{} has only the rights that ops-panel-host gives it through sudo (version {}). {}',
  ],
  ['Il faut la version {} : {}', 'Version {} is needed: {}'],
  ['Il diffère de celui de ce service : {}', 'It differs from the one of this service: {}'],
  ['« ops-panel host helper » dit comment le remplacer.', 'See “ops-panel host helper” to replace it.'],
  ['les pénalités de sshd', 'sshd penalties'],
  [
    'sshd (OpenSSH {}) ne bloque aucune adresse (PerSourcePenalties).',
    'sshd (OpenSSH {}) blocks no address (PerSourcePenalties).',
  ],
  [
    'sshd ne bloque jamais ce service (PerSourcePenaltyExemptList, {}).',
    'sshd never blocks this service (PerSourcePenaltyExemptList, {}).',
  ],
  [
    'sshd (OpenSSH {}) peut bloquer ce service : des mots de passe incorrects, saisis par n’importe qui, rendent alors l’hôte inaccessible à tous pendant un moment. {}',
    'sshd (OpenSSH {}) may block this service: wrong passwords from anyone then make the host unreachable for everyone for a while. {}',
  ],
  [
    'sshd (OpenSSH {}) peut bloquer ce service, et {} n’a pas le droit de lire s’il le fait : des mots de passe incorrects, saisis par n’importe qui, rendent alors l’hôte inaccessible à tous pendant un moment. Si ce n’est pas déjà fait : {}',
    'sshd (OpenSSH {}) may block this service, and {} may not read whether it does: wrong passwords from anyone then make the host unreachable for everyone for a while. Unless this is already done: {}',
  ],
  [
    'Ajoutez à sa configuration (/etc/ssh/sshd_config) la ligne « {} », puis : systemctl reload ssh',
    'Add the line “{}” to its configuration (/etc/ssh/sshd_config), then: systemctl reload ssh',
  ],
  ['{} ({}). Attendez une minute et réessayez.', '{} ({}). Wait a minute and try again.'],
  ['apt répond.', 'apt answers.'],
  [
    'apt ne répond pas ({}). L’hôte doit être une Debian ou une de ses dérivées.',
    'apt does not answer ({}). The host must run Debian or a derivative.',
  ],
  ['pct répond : {} conteneur{}.', 'pct answers: {} container{}.'],
  [
    'Il n’y a pas de pct sur cet hôte : seul l’hôte lui-même peut être mis à jour.',
    'This host has no pct: only the host itself can be upgraded.',
  ],
  [
    'pct ne répond pas ({}). Sans lui, seul l’hôte lui-même peut être mis à jour.',
    'pct does not answer ({}). Without it, only the host itself can be upgraded.',
  ],

  // The hypervisor
  ['L’hyperviseur ne répond pas : {}', 'The hypervisor does not answer: {}'],
  ['aucune réponse complète de {} en {} s', 'no complete answer from {} within {} s'],
  [
    'Le certificat de l’hyperviseur {} : {}. Comparez cette empreinte à celle qu’affiche l’hyperviseur, puis enregistrez-la dans les réglages (hypervisor_fingerprint).',
    'The hypervisor’s certificate {}: {}. Compare this fingerprint with the one that the hypervisor shows, then store it in the settings (hypervisor_fingerprint).',
  ],
  ['n’a pas été reçu', 'was not received'],
  ['n’est pas celui qui a été accepté', 'is not the one that was accepted'],
  ['n’est garanti par aucune autorité', 'is not signed by a known authority'],
  ['aucun', 'none'],
  ['Le jeton n’a pas les droits nécessaires sur l’hyperviseur : {}', 'The token lacks rights on the hypervisor: {}'],
  ['VM.Audit manque pour voir les conteneurs', 'VM.Audit is missing, which is needed to see the containers'],
  [
    'L’hyperviseur a plusieurs nœuds ({}), et son adresse ne dit pas lequel est cet hôte : indiquez dans les réglages celle d’un nœud, par son nom.',
    'The hypervisor has several nodes ({}), and its address does not say which one is this host. In the settings, enter the address of a node by its name.',
  ],
  ['L’hyperviseur a refusé : {}', 'The hypervisor refused: {}'],
  ['La réponse de l’hyperviseur est inutilisable : {}', 'The hypervisor’s answer cannot be used: {}'],
  ['elle dépasse {} Mio', 'it is longer than {} MiB'],
  ['ce n’est pas du JSON', 'it is not JSON'],
  ['le JSON est illisible', 'the JSON cannot be read'],
  ['il n’y a aucun nœud', 'there are no nodes'],
  [
    'Le conteneur est verrouillé ({}) : attendez que cette opération se termine.',
    'The container is locked ({}): wait until that operation ends.',
  ],
  [
    'Le jeton de l’hyperviseur enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.',
    'The stored hypervisor token cannot be decrypted. Enter it again.',
  ],
  ['L’hyperviseur répond : {} conteneur{} sur {}', 'The hypervisor answers: {} container{} on {}'],
  ['L’hyperviseur répond : {} conteneur{} sur {}.', 'The hypervisor answers: {} container{} on {}.'],
  [
    '{}, mais le jeton ne peut ni les démarrer ni les arrêter (VM.PowerMgmt).',
    '{}, but the token may neither start nor stop them (VM.PowerMgmt).',
  ],
  [
    'les instantanés avant les mises à jour passent par l’API de l’hyperviseur',
    'the snapshots before upgrades are made by the hypervisor’s API',
  ],
  ['Sans règle sudo pour pct snapshot, {}.', 'Without a sudo rule for pct snapshot, {}.'],
  [
    'Sans règle sudo pour pct snapshot, {}, mais aucun de ses nœuds n’a le nom de l’hôte ({}).',
    'Without a sudo rule for pct snapshot, {}, but none of its nodes has the name of the host ({}).',
  ],
  [
    'Sans règle sudo pour pct snapshot, {}, mais le jeton n’en a pas le droit (VM.Snapshot).',
    'Without a sudo rule for pct snapshot, {}, but the token lacks the right to do so (VM.Snapshot).',
  ],
  [
    'Le jeton n’a pas Datastore.Audit : un pool presque plein n’est pas vu avant un instantané.',
    'The token lacks Datastore.Audit: a nearly full pool is not noticed before a snapshot.',
  ],

  // Lists of vulnerabilities
  ['{} a répondu HTTP {}.', '{} answered HTTP {}.'],
  ['La liste de {} dépasse {} Mio.', 'The list from {} exceeds {} MiB.'],
  ['{} n’a pas répondu à temps.', '{} did not answer in time.'],
  ['{} ne répond pas ({}).', '{} does not answer ({}).'],
  ['{} redirige vers une adresse refusée.', '{} redirects to an address that is not allowed.'],
  ['{} redirige sans fin d’une adresse à une autre.', '{} redirects endlessly from one address to another.'],
  ['La réponse de {} n’est pas la liste attendue.', 'The answer from {} is not the expected list.'],
]
