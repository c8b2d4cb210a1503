import type { forge as fr } from '../fr/forge.ts'

export const forge: typeof fr = {
  title: 'Forge',
  note: 'Optional: the Gitea or Forgejo where an organization offers modules, one repository each.',
  environment: (url: string, org: string) =>
    `The environment of the service gives ${url}, organization ${org}: it fills the fields that are left empty.`,
  forge_url: 'Address',
  forge_url_hint:
    'With its path, if it has one: https://forge.example or https://example.com/git. Another site makes the panel forget the stored token.',
  forge_org: 'Organization',
  forge_org_hint: 'Its name on the forge, as in the address of its repositories.',
  forge_token: 'Token',
  forge_token_hint:
    'With the permissions read:organization and read:repository. Not needed if its repositories are public.',
  forge_fingerprint: 'Certificate fingerprint',
  wrong: {
    forge_url: 'Enter an address https:// (or http://), without credentials.',
    forge_org: 'Enter the name of the organization: letters, digits, dots and hyphens.',
    forge_token: 'Enter a token without spaces.',
    forge_fingerprint: 'Enter a SHA-256 fingerprint (AA:BB:…).',
  },
  saved: 'Forge settings saved.',
  test: 'Test the forge',
  results: 'Results of the test of the forge',
  passed: 'Passed',
  failed: 'To be fixed',
  allWell: 'The forge can serve modules.',
  notWell: 'Something remains to be fixed.',
  unsavedTested: 'These values are not saved yet.',
  check_reachable: 'Address',
  check_certificate: 'Certificate',
  check_forge: 'Gitea or Forgejo',
  check_token: 'Token',
  check_organization: 'Organization',
  check_repositories: 'Repositories',
  check_files: 'Files of the repositories',
  certificate: 'The forge shows this certificate:',
  compare: 'Compare its SHA-256 fingerprint with the one that the server of the forge shows:',
  accept: 'Accept this certificate',
  acceptTitle: 'Accept this certificate?',
  acceptText: 'The token of the forge and the code of modules will pass through any server with this certificate.',
}
