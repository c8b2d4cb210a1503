import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences that version 0.1 wrote, which histories and installations may still contain. */
export const formerSentences: readonly Pair[] = [
  [
    'l’hôte refuse pour l’instant les connexions de ce service, après des mots de passe faux ou trop de connexions à la fois',
    'the host refuses connections of this service for now, after wrong passwords or too many connections at once',
  ],
  [
    'L’hôte refuse pour l’instant les connexions de ce service, après des mots de passe faux ou trop de connexions à la fois',
    'The host refuses connections of this service for now, after wrong passwords or too many connections at once',
  ],
  [
    'Connexion impossible : l’hôte SSH refuse pour l’instant les connexions de ce service, après des mots de passe faux ou trop de connexions à la fois. Réessayez dans une minute.',
    'No connection: the SSH host refuses connections of this service for now, after wrong passwords or too many connections at once. Try again in a minute.',
  ],
  ['l’hôte n’a pas dit qui est ce compte', 'the host did not say who this account is'],
  ['l’hôte n’a pas dit en {} s qui est {}', 'the host did not say within {} s who {} is'],
  [
    'Sur l’hôte, {} n’est pas utilisé, car d’autres que root peuvent le changer : chown root:root {} ; chmod 755 {}',
    'On the host, {} is not used because others than root can change it: chown root:root {} ; chmod 755 {}',
  ],
  ['Ce n’est pas tout à fait celui de ce service : {}', 'It is not quite the one of this service: {}'],
  [
    'sshd (OpenSSH {}) n’écarte aucune adresse (PerSourcePenalties).',
    'sshd (OpenSSH {}) shuts no address out (PerSourcePenalties).',
  ],
  [
    'sshd n’écarte jamais ce service (PerSourcePenaltyExemptList, {}).',
    'sshd never shuts this service out (PerSourcePenaltyExemptList, {}).',
  ],
  [
    'sshd (OpenSSH {}) peut écarter ce service : des mots de passe faux, de qui que ce soit, ferment alors l’hôte à tous pendant un moment. {}',
    'sshd (OpenSSH {}) may shut this service out: wrong passwords, from anybody, then close the host to everybody for a while. {}',
  ],
  [
    'sshd (OpenSSH {}) peut écarter ce service, et {} n’a pas le droit de lire s’il le fait : des mots de passe faux, de qui que ce soit, ferment alors l’hôte à tous pendant un moment. Si ce n’est pas déjà fait : {}',
    'sshd (OpenSSH {}) may shut this service out, and {} may not read whether it does: wrong passwords, from anybody, then close the host to everybody for a while. Unless it is done already: {}',
  ],
  [
    'les fichiers de démarrage du compte de service écrivent trop',
    'the start-up files of the service account print too much',
  ],
  ['le shell n’a pas commencé', 'the shell has not begun'],
  ['le shell n’a pas pu commencer', 'the shell could not begin'],
  ['le shell n’a pas commencé en {} s', 'the shell has not begun within {} s'],
  ['le client est parti', 'the client has left'],
  ['n’est pas arrivé', 'has not come'],
  ['Le jeton n’a pas les droits qu’il faut sur l’hyperviseur : {}', 'The token lacks rights on the hypervisor: {}'],
  [
    'L’hyperviseur a plusieurs nœuds ({}), et son adresse ne dit pas lequel est cet hôte : donnez dans les réglages celle d’un nœud, par son nom.',
    'The hypervisor has several nodes ({}), and its address does not say which one is this host: give that of a node, by its name, in the settings.',
  ],
  ['La forge n’a pas laissé lire {} dépôt{} : {}', 'The forge did not let {} of its repositories be read: {3}'],
  [
    '{} renvoie vers {}, qui n’est pas l’adresse de PANEL_FORGE_URL',
    '{} redirects to {}, which is not the address of PANEL_FORGE_URL',
  ],
  [
    '{} redirige vers {}, qui n’est pas l’adresse de PANEL_FORGE_URL',
    '{} redirects to {}, which is not the address of PANEL_FORGE_URL',
  ],
  ['accès refusé ({}, HTTP {}) : vérifiez PANEL_FORGE_TOKEN', 'access denied ({}, HTTP {}): check PANEL_FORGE_TOKEN'],
  ['{} renvoie sans fin d’une adresse à une autre', '{} redirects from one address to another without end'],
  ['une page HTML est venue, et non {}', 'a page of HTML came, and not {}'],
  ['la forge redonne la même page', 'the forge gives the same page again'],
  [
    'l’export par défaut rend une promesse, pas une liste de déclarations',
    'the default export returns a promise, not a list of declarations',
  ],
  [
    'l’export par défaut ne rend pas une liste de déclarations',
    'the default export does not return a list of declarations',
  ],
  [
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et le mot de passe sont nécessaires (« ops-panel settings set » sur la console du service).',
    'The SSH settings are incomplete: they need a host, a user and a password (“ops-panel settings set” on the service’s console).',
  ],
  [
    'Le mot de passe SSH enregistré ne peut pas être déchiffré. Saisissez-le à nouveau (« ops-panel settings set ssh_password » sur la console du service).',
    'The stored SSH password cannot be decrypted. Enter it again (“ops-panel settings set ssh_password” on the service’s console).',
  ],
]
