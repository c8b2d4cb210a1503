import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about the service account: its key, its password, and changing them. */
export const serviceAccountSentences: readonly Pair[] = [
  [
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et son mot de passe ou sa clé sont nécessaires (« ops-panel settings set » sur la console du service).',
    'The SSH settings are incomplete: they need a host, a user and its password or key (“ops-panel settings set” on the service’s console).',
  ],
  [
    'Le mot de passe ou la clé SSH enregistrés ne peuvent pas être déchiffrés. Enregistrez l’un des deux à nouveau (« ops-panel settings set ssh_password » ou « ssh_key » sur la console du service).',
    'The stored SSH password or key cannot be decrypted. Store one of them again (“ops-panel settings set ssh_password” or “ssh_key” on the service’s console).',
  ],

  // Signing in
  ['l’hôte refuse la clé de {}', 'the host rejects the key of {}'],
  ['L’hôte refuse la clé de {}', 'The host rejects the key of {}'],
  ['l’hôte refuse la clé et le mot de passe de {}', 'the host rejects the key and the password of {}'],
  ['L’hôte refuse la clé et le mot de passe de {}', 'The host rejects the key and the password of {}'],
  ['l’hôte n’accepte aucune clé de {} (PubkeyAuthentication)', 'the host accepts no key of {} (PubkeyAuthentication)'],
  ['L’hôte n’accepte aucune clé de {} (PubkeyAuthentication)', 'The host accepts no key of {} (PubkeyAuthentication)'],
  [
    'l’hôte n’accepte aucune clé, et refuse le mot de passe de {}',
    'the host accepts no key, and rejects the password of {}',
  ],
  [
    'L’hôte n’accepte aucune clé, et refuse le mot de passe de {}',
    'The host accepts no key, and rejects the password of {}',
  ],
  [
    'sudo demande un mot de passe que le panneau n’a pas ; « ops-panel doctor » dit quelle règle ajouter',
    'sudo asks for a password that the panel does not have; “ops-panel doctor” says which rule to add',
  ],

  // The checks of the setup page
  ['{}. Le compte de service peut se connecter par une clé.', '{}. The service account can sign in by a key instead.'],
  [
    '{}. Ajoutez la ligne de la clé dans ~{}/.ssh/authorized_keys, que sshd doit lire (AuthorizedKeysFile, PubkeyAuthentication) et dont seul {} peut modifier les dossiers.',
    '{}. Add the line of the key to ~{}/.ssh/authorized_keys. sshd must read this file (AuthorizedKeysFile, PubkeyAuthentication), and only {} may be able to change its folders.',
  ],
  [
    'sudo demande le mot de passe de {}, que le panneau n’a pas. {}',
    'sudo asks for the password of {}, which the panel does not have. {}',
  ],
  [
    'sudo demande le mot de passe de {}, que le panneau n’a pas.',
    'sudo asks for the password of {}, which the panel does not have.',
  ],
  ['L’hôte accepte la clé de {}.', 'The host accepts the key of {}.'],
  [
    'L’hôte refuse la clé de {} ; seul son mot de passe sert.',
    'The host rejects the key of {}; only its password is in use.',
  ],
  ['La clé de {} n’a pas pu être essayée ({}).', 'The key of {} could not be tried ({}).'],
  [
    'Une nouvelle clé du compte de service attend d’être confirmée, dans les réglages du panneau.',
    'A new key of the service account waits to be confirmed in the panel’s settings.',
  ],
  [
    'L’hôte accepte encore une ancienne clé du panneau : retirez-la de authorized_keys ({}).',
    'The host still accepts a former key of the panel: remove it from authorized_keys ({}).',
  ],
  [
    'D’anciennes clés du panneau n’ont pas pu être essayées ({}) : {}.',
    'Former keys of the panel could not be tried ({}): {}.',
  ],
  ['la connexion a été coupée', 'the connection was cut'],
  [
    'La clé ne permet que d’exécuter des commandes : ni redirection de port, ni agent, ni X11, ni fichier ~/.ssh/rc.',
    'The key only allows commands: no port forwarding, no agent, no X11, no ~/.ssh/rc.',
  ],
  [
    'Le panneau ouvre des terminaux ; sans cette option, ils ne s’ouvrent pas.',
    'The panel opens terminals; without this option they do not open.',
  ],
  ['Le panneau ouvre des terminaux.', 'The panel opens terminals.'],
  [
    'À ajouter devant, suivi d’une virgule, si l’adresse du panneau ne change pas : la clé ne sert alors que de là.',
    'To be added in front, followed by a comma, if the address of the panel does not change: the key then works from there only.',
  ],

  ['from="<adresse du panneau>"', 'from="<address of the panel>"'],

  // Another key
  ['La nouvelle clé est en service.', 'The new key is in use.'],
  [
    'La nouvelle clé est en service. L’ancienne clé n’a pas pu être retirée de l’hôte : retirez de ses clés {}',
    'The new key is in use. The former key could not be removed from the host: remove from its keys {}',
  ],
  [
    '{} n’a pas pu ajouter la nouvelle clé lui-même : {}. Ajoutez la ligne à ses clés sur l’hôte, puis confirmez. D’ici là, rien ne change.',
    '{} could not add the new key itself: {}. Add the line to its keys on the host, then confirm. Until then, nothing changes.',
  ],
  [
    'son dossier .ssh manque, est un lien, ou n’est pas à lui',
    'its folder .ssh is missing, is a link, or does not belong to it',
  ],
  [
    'son fichier authorized_keys est un lien ou n’est pas à lui',
    'its file authorized_keys is a link or does not belong to it',
  ],
  ['son fichier authorized_keys a plus d’un mébioctet', 'its file authorized_keys is larger than one mebibyte'],
  ['il n’a pas pu écrire son fichier authorized_keys', 'it could not write its file authorized_keys'],
  [
    'un autre programme modifie sans cesse son fichier authorized_keys',
    'another program keeps changing its file authorized_keys',
  ],
  [
    'la ligne de la clé actuelle a des options qui ne peuvent pas être reprises telles quelles',
    'the line of the present key has options that cannot be kept as they are',
  ],
  [
    'l’hôte refuse la clé ajoutée à son fichier ~/.ssh/authorized_keys (sshd lit peut-être un autre fichier : AuthorizedKeysFile)',
    'the host rejects the key that was added to its file ~/.ssh/authorized_keys (sshd may read another file: AuthorizedKeysFile)',
  ],
  ['{} ne peut exécuter aucune commande avec cette clé', '{} cannot run any command with this key'],
  ['le compte n’a pas pu lire ses clés (authorized_keys)', 'the account could not read its keys (authorized_keys)'],
  [
    'Aucune nouvelle clé n’attend d’être confirmée, ou une autre l’a été entre-temps. Recommencez le changement de clé.',
    'No new key waits to be confirmed, or another one has been confirmed meanwhile. Change the key again.',
  ],
  [
    'L’hôte refuse la nouvelle clé de {}. Vérifiez que sa ligne est dans ses clés ; l’ancienne reste en service.',
    'The host rejects the new key of {}. Check that its line is among its keys; the former one stays in use.',
  ],
  [
    'Le mot de passe de {} ne peut pas être oublié, car sudo le demande. Ajoutez d’abord sur l’hôte la règle sudo : {}',
    'The password of {} cannot be forgotten, because sudo asks for it. First add this sudo rule on the host: {}',
  ],
  [
    'Demandez d’abord la clé du compte de service, et ajoutez sa ligne sur l’hôte.',
    'First ask for the key of the service account, and add its line on the host.',
  ],
]
