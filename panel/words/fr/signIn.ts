export const signIn = {
  title: 'Connexion',
  with: 'Utilisez votre compte sur l’hôte, celui de vos connexions SSH.',
  username: 'Nom d’utilisateur',
  password: 'Mot de passe',
  submit: 'Se connecter',
  usernameMissing: 'Saisissez votre nom d’utilisateur.',
  passwordMissing: 'Saisissez votre mot de passe.',
  show: 'Afficher',
  showPassword: 'Afficher le mot de passe',
  expired: 'Votre session est terminée. Reconnectez-vous pour reprendre où vous étiez.',
  signedOut: 'Vous êtes déconnecté.',
  unheard:
    'Vous êtes déconnecté ici, mais le service n’a pas répondu\u00a0: gardez cette page ouverte, elle terminera votre session dès qu’il sera de retour.',
  again: (seconds: number) => `Réessayez dans ${seconds} s.`,
}
