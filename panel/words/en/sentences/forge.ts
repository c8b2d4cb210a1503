import type { Pair } from '../../../nouns/from-service.ts'

/** Sentences about the forge of the settings: its test, its certificate, its token and its limits. */
export const forgeSentences: readonly Pair[] = [
  [
    'Aucune forge n’est configurée : donnez son adresse et son organisation dans les réglages (forge_url, forge_org).',
    'No forge is configured: enter its address and organization in the settings (forge_url, forge_org).',
  ],
  [
    'Le jeton de la forge enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.',
    'The stored token of the forge cannot be decrypted. Enter it again.',
  ],
  [
    '{} redirige vers {}, qui n’est pas l’adresse de la forge dans les réglages (forge_url)',
    '{} redirects to {}, which is not the address of the forge in the settings (forge_url)',
  ],
  [
    'son adresse est en http:, où aucun certificat ne peut être comparé à celui qui a été accepté : corrigez-la, ou videz forge_fingerprint',
    'its address is an http: one, where no certificate can be compared with the accepted one: correct it, or empty forge_fingerprint',
  ],
  ['son certificat {} : {}', 'its certificate {}: {}'],
  ['n’a pas été reçu', 'was not received'],
  ['n’est pas celui qui a été accepté', 'is not the accepted one'],
  ['n’est garanti par aucune autorité', 'is not signed by any authority'],
  ['{} limite les requêtes : réessayez dans {} s', '{} limits requests: try again in {} s'],
  ['le jeton n’a pas la permission {} ({}, HTTP 403)', 'the token does not have the permission {} ({}, HTTP 403)'],
  [
    'accès refusé ({}, HTTP {}) : vérifiez le jeton de la forge (forge_token, ou PANEL_FORGE_TOKEN)',
    'access denied ({}, HTTP {}): check the token of the forge (forge_token, or PANEL_FORGE_TOKEN)',
  ],
  // The test
  ['{} répond.', '{} answers.'],
  ['Le certificat de la forge est celui qui a été accepté.', 'The certificate of the forge is the accepted one.'],
  [
    'Le certificat de la forge est garanti par une autorité reconnue.',
    'The certificate of the forge is signed by a known authority.',
  ],
  ['Le certificat de la forge {}.', 'The certificate of the forge {}.'],
  ['une page HTML', 'an HTML page'],
  ['sa version', 'its version'],
  ['sa version de Forgejo', 'its version of Forgejo'],
  ['C’est Gitea {}.', 'It is Gitea {}.'],
  ['C’est Forgejo {}.', 'It is Forgejo {}.'],
  ['La forge ne répond qu’aux personnes connectées.', 'The forge answers only to people who are signed in.'],
  [
    'Aucune forge à cette adresse, mais une à {} : corrigez l’adresse (forge_url).',
    'There is no forge at this address, but one at {}: correct the address (forge_url).',
  ],
  [
    'Aucun Gitea ni Forgejo ne répond à cette adresse ({}) : vérifiez son chemin (forge_url).',
    'Neither Gitea nor Forgejo answers at this address ({}): check its path (forge_url).',
  ],
  [
    'Le jeton enregistré n’est envoyé qu’avec l’empreinte enregistrée : enregistrez la nouvelle, ou saisissez le jeton.',
    'The stored token is only sent with the stored fingerprint: save the new one, or enter the token.',
  ],
  ['Sans jeton, seuls les dépôts publics se lisent.', 'Without a token, only public repositories can be read.'],
  ['le compte du jeton', 'the account of the token'],
  ['La forge reconnaît le jeton de {}.', 'The forge knows the token of {}.'],
  ['La forge reconnaît le jeton.', 'The forge knows the token.'],
  [
    'La forge ne reconnaît pas ce jeton : créez-en un autre (forge_token).',
    'The forge does not know this token: create another one (forge_token).',
  ],
  ['La forge refuse ce jeton (HTTP {}).', 'The forge refuses this token (HTTP {}).'],
  ['l’organisation « {} »', 'the organization “{}”'],
  ['L’organisation « {} » existe.', 'The organization “{}” exists.'],
  [
    'L’organisation « {} » a un autre nom aujourd’hui : {} (forge_org).',
    'The organization “{}” has another name today: {} (forge_org).',
  ],
  [
    'La forge ne montre cette organisation qu’avec un jeton (forge_token).',
    'The forge shows this organization only with a token (forge_token).',
  ],
  [
    'La forge refuse de montrer cette organisation (HTTP {}).',
    'The forge refuses to show this organization (HTTP {}).',
  ],
  ['La forge répond HTTP {} pour cette organisation.', 'The forge answers HTTP {} for this organization.'],
  ['le compte « {} »', 'the account “{}”'],
  [
    '« {} » est un compte, pas une organisation : les modules viennent d’une organisation (forge_org).',
    '“{}” is an account, not an organization: modules come from an organization (forge_org).',
  ],
  [
    'L’organisation « {} » n’existe pas, ou n’est pas visible avec ce jeton (forge_org).',
    'The organization “{}” does not exist, or cannot be seen with this token (forge_org).',
  ],
  ['La liste des dépôts est illisible.', 'The list of repositories cannot be read.'],
  [
    'L’organisation « {} » n’a aucun dépôt, ou aucun qui soit visible avec ce jeton.',
    'The organization “{}” has no repository, or none that can be seen with this token.',
  ],
  ['Elle a un dépôt.', 'It has one repository.'],
  ['Elle a {} dépôts.', 'It has {} repositories.'],
  ['module.json de « {} »', 'module.json of “{}”'],
  ['module.json de « {} » se lit.', 'module.json of “{}” can be read.'],
  ['Aucun des dépôts examinés n’a de fichier à lire.', 'None of the repositories looked at has a file to read.'],
  [
    'Les fichiers se lisent, mais aucun des {} dépôts examinés n’a de module.json.',
    'Files can be read, but none of the {} repositories looked at has a module.json.',
  ],
  ['les dépôts', 'the repositories'],
  ['Le jeton ne lit que ce qui est public.', 'The token reads only what is public.'],
  ['La forge refuse (HTTP {}).', 'The forge refuses (HTTP {}).'],
  ['Il manque au jeton la permission {}.', 'The token lacks the permission {}.'],
  [
    'Ce module vient de {}, mais la forge des réglages le lit à {}. Installez-le depuis la liste, ou corrigez la forge (forge_url, forge_org).',
    'This module comes from {}, but the forge of the settings reads it at {}. Install it from the list, or correct the forge (forge_url, forge_org).',
  ],
]
