export const access = {
  /** One of the user's factors is asked for. */
  question: {
    tell: {
      totp: 'Ouvrez votre application d’authentification et saisissez le code à six chiffres qu’elle affiche.',
      passkey:
        'Votre navigateur demande votre clé d’accès\u00a0: empreinte, visage, code de l’appareil ou clé de sécurité.',
      recovery: 'Saisissez l’un des codes de secours que vous avez gardés. Chacun ne sert qu’une fois.',
    },
    label: { totp: 'Code à six chiffres', passkey: 'Clé d’accès', recovery: 'Code de secours' },
    missing: { totp: 'Saisissez le code.', passkey: '', recovery: 'Saisissez un code de secours.' },
    wrong: {
      totp: 'Ce code n’est pas le bon, ou il a déjà servi. Attendez le suivant, ou utilisez un autre moyen.',
      passkey: 'Cette clé d’accès n’a pas été acceptée. Réessayez, ou utilisez un autre moyen.',
      recovery: 'Ce code de secours n’est pas le bon, ou il a déjà servi. Prenez-en un autre.',
    },
    instead: {
      totp: 'Utiliser l’application d’authentification',
      passkey: 'Utiliser une clé d’accès',
      recovery: 'Utiliser un code de secours',
    },
    usePasskey: 'Utiliser la clé d’accès',
    passkeyFailed: {
      declined: 'La clé d’accès n’a pas été donnée, ou trop tard. Réessayez, ou utilisez un autre moyen.',
      known: 'Cet appareil a déjà une clé d’accès pour votre compte. Utilisez-la, ou prenez un autre appareil.',
      failed: 'Ce navigateur n’a pas pu utiliser de clé d’accès ici. Utilisez un autre moyen.',
    },
    none: 'Votre second facteur est une clé d’accès, que ce navigateur ne permet pas à cette adresse. Ouvrez le panneau par son nom, en https, ou avec un autre navigateur.',
    again: 'Recommencer',
    cancel: 'Annuler',
    lockedAll: 'Trop de mauvaises réponses en une minute\u00a0: aucun moyen n’est accepté pour l’instant.',
    lockedKind: 'Ce moyen est verrouillé, après trop de mauvaises réponses.',
    waitFirst: 'Patientez d’abord.',
    againMinutes: (minutes: number) => `Réessayez dans ${minutes}\u00a0min, ou utilisez un autre moyen.`,
  },
  /** A sign-in after the password. */
  steps: {
    factor: 'Second facteur',
    host: 'L’hôte demande encore',
    hostAsks: 'Ces questions viennent de l’hôte, dans ses mots.',
    onlyContinue: 'L’hôte n’attend rien de plus. Continuez.',
    unnamed: (n: number) => `Réponse ${n}`,
    left: (seconds: number) => `L’hôte attend encore ${seconds} s.`,
    tooLate: 'L’hôte n’attend plus. Recommencez.',
    submit: 'Continuer',
    again: 'Recommencer',
  },
  /** Without a password. */
  ways: {
    passkey: 'Se connecter avec une clé d’accès',
    provider: (name: string) => `Se connecter avec ${name}`,
  },
  /** The way back from the provider. */
  oidc: {
    title: 'Connexion par fournisseur',
    underWay: 'Connexion en cours…',
    unasked: 'Cette fenêtre n’a pas demandé de connexion. Recommencez.',
    again: 'Revenir à la connexion',
  },
  stepUp: {
    title: 'Confirmez qui vous êtes',
    why: 'Votre dernière preuve date de plus de 15 minutes, et cette action en demande une plus récente. Ce que vous avez saisi reste en place.',
    confirm: 'Confirmer',
    passwordMissing: 'Saisissez votre mot de passe.',
    noPassword:
      'Votre compte n’a pas de mot de passe sur l’hôte\u202f? Reconnectez-vous, puis ajoutez un second facteur dans les 15 minutes\u00a0: il servira ici.',
  },
  must: {
    title: 'Ajoutez un second facteur',
    why: (name: string) =>
      `Ce panneau exige un second facteur pour le compte ${name}, qui n’en a pas encore. Ajoutez-en un pour entrer dans le panneau.`,
  },
  enrol: {
    totp: 'Application d’authentification',
    totpMeans: 'Un code à six chiffres, sur un téléphone ou un ordinateur. Fonctionne partout.',
    passkey: 'Clé d’accès',
    passkeyMeans:
      'L’appareil lui-même, ou une clé de sécurité. Le plus sûr\u00a0: un faux site ne peut pas vous la soutirer.',
    noPasskeys: 'Les clés d’accès demandent un panneau ouvert par son nom, en https, et un navigateur qui les connaît.',
  },
  totp: {
    name: 'Application d’authentification',
    scan: 'Scannez ce code avec votre application d’authentification.',
    scanAnother:
      'Ce code remplace celui d’avant\u00a0: scannez-le, et supprimez de votre application ce que l’ancien y a mis.',
    qr: 'Code QR pour l’application d’authentification',
    byHand: 'Le saisir à la main',
    here: 'Ouvrir dans une application de cet appareil',
    code: 'Code à six chiffres de l’application',
    missing: 'Saisissez le code que l’application affiche.',
    wrong:
      'Ce code n’est pas le bon. Saisissez le suivant\u202f; si aucun ne convient, vérifiez l’heure du téléphone et celle de la machine du panneau.',
    add: 'Ajouter',
    cancel: 'Annuler',
  },
  passkey: {
    explain: 'Votre navigateur demandera où la garder\u00a0: cet appareil, un téléphone ou une clé de sécurité.',
    name: 'Nom de la clé',
    nameHint: 'Pour la reconnaître dans la liste.',
    missing: 'Donnez un nom à la clé.',
    add: 'Créer la clé d’accès',
    cancel: 'Annuler',
  },
  once: {
    codes: 'Codes de secours',
    codesText:
      'Gardez ces codes hors de cet appareil\u00a0: chacun remplace une fois votre second facteur. Ils ne seront plus jamais affichés.',
    copy: 'Copier',
    download: 'Télécharger',
    copied: 'Copié.',
    notCopied: 'Votre navigateur a bloqué la copie.',
    kept: 'Je les ai gardés',
    keepFirst: 'Gardez d’abord ces codes, puis cochez la case.',
    done: 'Terminer',
  },
  factors: {
    title: 'Seconds facteurs',
    means: 'Demandés après le mot de passe, et avant ce qui est délicat. Ayez-en deux, sur deux appareils.',
    none: 'Aucun\u00a0: qui apprend votre mot de passe entre.',
    added: (ago: string) => `Ajouté ${ago}`,
    used: (ago: string) => `utilisé ${ago}`,
    neverUsed: 'jamais utilisé',
    addTotp: 'Ajouter une application',
    addPasskey: 'Ajouter une clé d’accès',
    remove: 'Supprimer',
    removeOf: (name: string) => `Supprimer ${name}`,
    removeTitle: (name: string) => `Supprimer «\u00a0${name}\u00a0»\u202f?`,
    removeText: 'Il ne sera plus accepté nulle part.',
    removeLastText: 'C’est le dernier\u00a0: ensuite, votre mot de passe suffira, et les codes de secours seront nuls.',
    lastNeeded: 'Ce panneau exige un second facteur. Ajoutez-en d’abord un autre.',
    codesLeft: (count: number) =>
      count === 0
        ? 'Il ne reste aucun code de secours.'
        : count === 1
          ? 'Il reste 1 code de secours.'
          : `Il reste ${count} codes de secours.`,
    newCodes: 'Nouveaux codes de secours',
    newCodesTitle: 'Remplacer les codes de secours\u202f?',
    newCodesText: 'Les anciens ne seront plus acceptés.',
    newCodesMade: 'Vos nouveaux codes de secours',
    makeCodes: 'Remplacer les codes',
  },
  roles: {
    names: { viewer: 'Lecture', operator: 'Exploitation', admin: 'Administration' },
    means: {
      viewer: 'Voit tout ce qui n’est pas réservé aux administrateurs, et ne change rien.',
      operator: 'Vérifie, met à jour, démarre et arrête les conteneurs, annule ce qu’il a lancé.',
      admin: 'Peut tout, sauf ce qui demande de confirmer qui l’on est.',
    },
    own: {
      viewer: 'Vous pouvez tout consulter, sauf ce qui est réservé aux administrateurs de l’hôte.',
      operator:
        'Vous pouvez vérifier et mettre à jour, démarrer et arrêter les conteneurs, et annuler ce que vous avez lancé.',
      admin: 'Vous pouvez tout faire ici.',
    },
    reread: 'Ce droit vient des groupes de votre compte sur l’hôte, et y est relu au moins toutes les 15 minutes.',
    everywhere: 'toutes les cibles',
    nowhere: 'aucune cible',
    on: (names: string) => `cibles\u00a0: ${names}`,
    yours: (names: string) => `Vous travaillez sur ces cibles\u00a0: ${names}.`,
    reads: 'Votre rôle permet de tout consulter ici, sans rien lancer.',
    onlyOn: (names: string) => `Vous travaillez sur ${names}\u00a0; les autres cibles se consultent.`,
    countsYours: 'Le titre et le menu ne comptent que vos cibles.',
    /** The name of the targets that need somebody, for those who may not work on all of them. */
    need: 'À traiter',
  },
  tokens: {
    title: 'Jetons d’API',
    means: 'Pour les programmes qui agissent pour vous. Un jeton ne peut jamais plus que vous au même moment.',
    none: 'Aucun jeton.',
    make: 'Nouveau jeton',
    made: 'Votre nouveau jeton',
    madeText: 'Gardez-le maintenant\u00a0: il ne sera plus jamais affiché.',
    done: 'Terminer',
    name: 'Nom',
    nameHint: 'Le programme qui s’en sert.',
    nameMissing: 'Donnez un nom au jeton.',
    role: 'Rôle',
    targets: 'Cibles',
    allTargets: 'Toutes',
    someTargets: 'Certaines',
    targetsMissing: 'Choisissez au moins une cible.',
    life: 'Valable',
    lives: { '7': '7 jours', '30': '30 jours', '90': '90 jours', '365': 'Un an', never: 'Sans limite' },
    create: 'Créer le jeton',
    cancel: 'Annuler',
    forever: 'Sans limite de temps',
    expires: (date: string) => `Valable jusqu’au ${date}`,
    expired: (date: string) => `Expiré le ${date}`,
    refused: 'Refusé à présent',
    less: (role: string) => `Ne peut plus que\u00a0: ${role}`,
    created: (ago: string) => `Créé ${ago}`,
    used: (ago: string, address: string) => `utilisé ${ago}${address ? `, depuis ${address}` : ''}`,
    neverUsed: 'jamais utilisé',
    of: (owner: string) => `Jeton de ${owner}.`,
    revoke: 'Révoquer',
    revokeOf: (name: string) => `Révoquer le jeton ${name}`,
    revokeTitle: (name: string) => `Révoquer le jeton «\u00a0${name}\u00a0»\u202f?`,
    revokeText: 'Le programme qui s’en sert sera refusé aussitôt.',
    revoked: 'Jeton révoqué.',
  },
  people: {
    title: 'Accès',
    note: 'Qui entre ici, et avec quels droits',
    people: 'Comptes',
    you: 'Vous',
    more: 'Afficher d’autres comptes',
    barred: (by: string, ago: string) => `Exclu par ${by} ${ago}`,
    lastLogin: (ago: string) => `Dernière connexion ${ago}.`,
    neverSignedIn: 'Jamais connecté.',
    totp: (count: number) => (count === 1 ? 'application' : `${count} applications`),
    passkeys: (count: number) => (count === 1 ? 'clé d’accès' : `${count} clés d’accès`),
    provesBy: (kinds: string, codes: number) =>
      `Second facteur\u00a0: ${kinds}, ${codes === 1 ? '1 code de secours' : `${codes} codes de secours`}.`,
    noFactor: 'Aucun second facteur.',
    tokenCount: (count: number) => (count === 0 ? '' : count === 1 ? '1 jeton d’API.' : `${count} jetons d’API.`),
    sessions: (count: number) => (count === 0 ? 'Aucune session' : count === 1 ? '1 session' : `${count} sessions`),
    sessionsOf: (name: string, count: number) =>
      `${count === 0 ? 'Aucune session' : count === 1 ? '1 session' : `${count} sessions`} de ${name}`,
    moreOf: (name: string) => `Autres actions sur ${name}`,
    end: 'Mettre fin à ses sessions',
    endOwn: 'Mettre fin à vos sessions',
    endOwnTitle: 'Mettre fin à vos sessions\u202f?',
    endOwnText:
      'Vos pages et vos terminaux se ferment aussitôt, partout, cette session-ci comprise. Vous pourrez vous reconnecter.',
    endTitle: (name: string) => `Mettre fin aux sessions de ${name}\u202f?`,
    endText: 'Ses pages et ses terminaux se ferment aussitôt, partout. La personne peut se reconnecter.',
    ended: (name: string) => `Les sessions de ${name} sont terminées.`,
    bar: 'Exclure',
    barTitle: (name: string) => `Exclure ${name} de ce panneau\u202f?`,
    barText:
      'Ses sessions se terminent aussitôt, et ni ses connexions ni ses jetons ne sont plus acceptés. Son compte sur l’hôte reste ce qu’il est.',
    unbar: 'Admettre de nouveau',
    notYourself: 'Vous ne pouvez pas exclure votre propre compte.',
    noSessions: 'Aucune session ouverte.',
    provenBy: {
      password: 'Prouvé par mot de passe',
      host: 'Prouvé par l’hôte',
      totp: 'Prouvé par application',
      passkey: 'Prouvé par clé d’accès',
      recovery: 'Prouvé par code de secours',
      oidc: 'Prouvé par fournisseur d’identité',
    },
    tokens: 'Jetons d’API de tous',
    tokensCounted: (count: number, expired: number) => {
      const told = count === 0 ? 'Aucun jeton' : count === 1 ? '1 jeton' : `${count} jetons`
      if (expired === 0) return `${told}.`
      return `${told}, et ${expired === 1 ? '1 expiré' : `${expired} expirés`}.`
    },
    noTokens: 'Personne n’a de jeton.',
  },
  /** The link that the console prints. */
  link: {
    title: 'Créez votre clé d’accès',
    forWhom: (name: string) => `Ce lien crée une clé d’accès pour le compte ${name}. Il ne sert qu’une fois.`,
    missing: 'Ce lien est incomplet. Copiez-le en entier depuis la console.',
    done: (name: string) => `La clé d’accès du compte ${name} est créée. Connectez-vous avec elle.`,
    toSignIn: 'Aller à la connexion',
    noPasskeys:
      'Ce navigateur ne permet pas de clé d’accès à cette adresse. Ouvrez ce lien en https, avec un navigateur récent.',
  },
}
