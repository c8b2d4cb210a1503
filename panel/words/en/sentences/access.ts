import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about signing in, tokens and providers. */
export const accessSentences: readonly Pair[] = [
  ['Connexion impossible : {}.', 'Sign-in impossible: {}.'],
  [
    'Connexion refusée : {}. Recommencez depuis la page de connexion.',
    'Sign-in refused: {}. Start again from the sign-in page.',
  ],
  ['le fournisseur a refusé ({})', 'the provider has refused ({})'],
  ['la réponse du fournisseur n’est pas valable', 'the answer of the provider is not valid'],
  ['la réponse du fournisseur est trop longue', 'the answer of the provider is too long'],
  ['la réponse de {} est trop longue', 'the answer of {} is too long'],
  [
    'le fournisseur ne donne pas la donnée « {} » (PANEL_OIDC_CLAIM)',
    'the provider does not give the claim “{}” (PANEL_OIDC_CLAIM)',
  ],
  [
    'le fournisseur n’a pas vérifié l’adresse de courriel (PANEL_OIDC_CLAIM)',
    'the provider has not verified the mail address (PANEL_OIDC_CLAIM)',
  ],
  ['le fournisseur {} ne donne pas sa configuration', 'the provider {} does not give its configuration'],
  ['le fournisseur {} ne répond pas', 'the provider {} does not answer'],
  [
    'le fournisseur {} se nomme autrement (PANEL_OIDC_ISSUER)',
    'the provider {} calls itself otherwise (PANEL_OIDC_ISSUER)',
  ],
  [
    'le fournisseur n’admet pas ce panneau (PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET)',
    'the provider does not admit this panel (PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET)',
  ],
  [
    'Le fournisseur OpenID Connect {} répond, et ne refuse pas ce panneau.',
    'The OpenID Connect provider {} answers, and does not refuse this panel.',
  ],
  ['Les connexions par OpenID Connect échouent : {}{}.{}', 'Sign-ins by OpenID Connect fail: {}{}.{}'],
  [
    'Vérifiez PANEL_OIDC_ISSUER, et que cette machine atteint cette adresse (nom, pare-feu, certificat : NODE_EXTRA_CA_CERTS).',
    'Check PANEL_OIDC_ISSUER, and that this machine reaches this address (name, firewall, certificate: NODE_EXTRA_CA_CERTS).',
  ],
  ['un nom sans caractères invisibles', 'a name without invisible characters'],
  ['une date à venir, dans 400 jours au plus', 'a date to come, in 400 days at most'],
  ['none, own ou une fonction', 'none, own or a function'],
]
