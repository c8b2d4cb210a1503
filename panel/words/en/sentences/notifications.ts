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
  ['{} refuse ces destinataires : {}', '{} refuses these recipients: {}'],
]
