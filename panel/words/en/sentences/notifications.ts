import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about channels: what is wrong with their settings, and why a message was not taken. */
export const notificationSentences: readonly Pair[] = [
  ['Canal supprimé.', 'Channel removed.'],
  ['Le canal a été désactivé.', 'The channel was switched off.'],
  [
    'Le secret enregistré ne peut pas être déchiffré : donnez-le de nouveau.',
    'The stored secret cannot be decrypted: enter it again.',
  ],
  ['Une erreur interne est survenue.', 'An internal error occurred.'],
  ['Le service s’arrête.', 'The service is stopping.'],
  ['Donnez ce secret de nouveau : l’adresse change.', 'Enter this secret again: the address changes.'],
  [
    'Donnez ce secret de nouveau : la connexion serait moins sûre.',
    'Enter this secret again: the connection would be less secure.',
  ],
  ['L’adresse est abrégée par « … » : donnez-la entière.', 'The address is shortened by “…”: enter the whole address.'],

  // Settings
  ['Ce réglage est nécessaire.', 'This setting is needed.'],
  ['Ce type de canal n’a pas ce réglage.', 'This kind of channel has no such setting.'],
  ['Un mot de passe va avec un nom d’utilisateur.', 'A password goes with a user name.'],
  ['Un nom d’utilisateur va avec un mot de passe.', 'A user name goes with a password.'],
  [
    'Sans chiffrement, un mot de passe n’est envoyé qu’à cette machine (localhost).',
    'Without encryption, a password is sent to this machine alone (localhost).',
  ],
  ['L’adresse d’un tel serveur n’a pas de paramètres.', 'The address of such a server has no parameters.'],
  ['des caractères ASCII sans espace', 'ASCII characters without spaces'],
  ['une ligne sans caractère de contrôle', 'one line without control characters'],
  ['une adresse nom@domaine', 'an address name@domain'],
  [
    'une adresse http: ou https: sans identifiants ni fragment',
    'an http: or https: address without credentials and without a fragment',
  ],
  ['un nom d’hôte ou une adresse IP', 'a host name or an IP address'],
  ['de 1 à 64 lettres, chiffres, _ ou -', '1 to 64 letters, digits, _ or -'],
  ['l’identifiant d’un salon, qui commence par !', 'the id of a room, which begins with !'],
  ['une heure de 00:00 à 23:59', 'a time from 00:00 to 23:59'],
  ['le nom d’un fuseau horaire, comme Europe/Paris', 'the name of a time zone, such as Europe/Paris'],
  ['un nom visible, sans espace autour', 'a visible name, without spaces around it'],

  // Attempts
  ['Le message n’a pas été pris : {}', 'The message was not taken: {}'],
  [
    '{} renvoie ailleurs (HTTP {}), et un renvoi n’est pas suivi.',
    '{} redirects elsewhere (HTTP {}), and a redirect is not followed.',
  ],
  ['{} n’a aucune adresse sous cette clé (HTTP 204).', '{} has no address under this key (HTTP 204).'],
  ['{} a répondu HTTP {}.', '{} answered HTTP {}.'],
  ['{} a répondu HTTP {} : {}', '{} answered HTTP {}: {}'],
  ['{} a répondu : {}', '{} answered: {}'],
  ['{} n’a pas répondu à temps.', '{} did not answer in time.'],
  ['{} ne répond pas ({}).', '{} does not answer ({}).'],
  ['Le certificat de {} est à un autre nom.', 'The certificate of {} is for another name.'],
  ['Le certificat de {} a expiré.', 'The certificate of {} has expired.'],
  [
    'Le certificat de {} n’est pas encore valable : l’horloge d’une des machines est peut-être fausse.',
    'The certificate of {} is not valid yet: the clock of one of the machines may be wrong.',
  ],
  [
    'Le certificat de {} est auto-signé, et le canal ne l’accepte pas.',
    'The certificate of {} is self-signed, and the channel does not accept it.',
  ],
  [
    'Le certificat de {} n’est signé par aucune autorité connue.',
    'The certificate of {} is signed by no known authority.',
  ],
  ['Le nom {} n’existe pas dans le DNS.', 'The name {} does not exist in the DNS.'],
  [
    'Le DNS ne répond pas, le nom {} n’a donc pas été trouvé.',
    'The DNS does not answer, so the name {} was not found.',
  ],
  [
    '{} n’a pas répondu comme un serveur {} (HTTP {}) : un portail ou un autre service est à cette adresse.',
    '{} did not answer like a {} server (HTTP {}): a portal or another service is at this address.',
  ],
  ['{} refuse ces destinataires : {}', '{} refuses these recipients: {}'],
]
