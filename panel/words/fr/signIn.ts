export const signIn = {
  title: 'Connexion',
  with: 'Utilisez votre compte sur l’hôte, comme pour SSH.',
  username: 'Nom d’utilisateur',
  password: 'Mot de passe',
  submit: 'Se connecter',
  usernameMissing: 'Saisissez votre nom d’utilisateur.',
  passwordMissing: 'Saisissez votre mot de passe.',
  showPassword: 'Afficher le mot de passe',
  expired: 'Votre session est terminée. Reconnectez-vous pour reprendre où vous étiez.',
  signedOut: 'Vous êtes déconnecté.',
  unanswered:
    'Vous êtes déconnecté ici, mais le service n’a pas répondu. Gardez cette page ouverte\u00a0: elle mettra fin à votre session dès son retour.',
  again: (seconds: number) => `Réessayez dans ${seconds} s.`,
}
