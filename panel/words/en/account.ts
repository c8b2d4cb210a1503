import type { account as fr } from '../fr/account.ts'

export const account: typeof fr = {
  title: 'My account',
  admin: 'Administrator of the host',
  adminMeans: 'You may do everything here. This right is read from the host at each sign-in.',
  user: 'No administrator',
  userMeans: 'You may read, and start upgrades. The rest is for administrators of the host.',
  lastLogin: (ago: string) => `Last sign-in ${ago}.`,
  preferences: 'Preferences',
  language: 'Language',
  languages: { fr: 'Français', en: 'English' },
  theme: 'Theme',
  themes: { dark: 'Dark', light: 'Light' },
  side: 'Menu',
  sides: { left: 'On the left', right: 'On the right' },
  sessions: 'Sessions',
  thisDevice: 'This device',
  device: (browser: string, system: string) => `${browser} on ${system}`,
  unknownDevice: 'Unknown device',
  used: (ago: string) => `used ${ago}`,
  opened: (ago: string) => `opened ${ago}`,
  from: (address: string) => `from ${address}`,
  revoke: 'Revoke',
  revokeOf: (device: string, address: string) => `Revoke the session of ${device}, ${address}`,
  revoked: 'The session is revoked: it is refused everywhere.',
  revokeOthers: 'Revoke all others',
  othersTitle: 'Revoke all of your other sessions?',
  othersText: (count: number) =>
    count === 1
      ? 'The other device will have to sign in again.'
      : `The ${count} other devices will have to sign in again.`,
  onlyOne: 'You have no other session.',
  signOut: 'Sign out',
}
