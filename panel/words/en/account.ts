import type { account as fr } from '../fr/account.ts'

export const account: typeof fr = {
  title: 'My account',
  lastLogin: (ago: string) => `Last sign-in ${ago}.`,
  preferences: 'Preferences',
  language: 'Language',
  languages: { fr: 'Français', en: 'English' },
  theme: 'Theme',
  themes: { dark: 'Dark', light: 'Light' },
  side: 'Side bar',
  sides: { left: 'Left', right: 'Right' },
  sessions: 'Sessions',
  thisDevice: 'This device',
  device: (browser: string, system: string) => `${browser} on ${system}`,
  unknownDevice: 'Unknown device',
  used: (ago: string) => `used ${ago}`,
  opened: (ago: string) => `opened ${ago}`,
  from: (address: string) => `from ${address}`,
  revoke: 'Revoke',
  revokeOf: (device: string, address: string) => `Revoke the session of ${device}, ${address}`,
  revoked: 'Session revoked. It no longer works anywhere.',
  revokeOthers: 'Revoke all others',
  othersTitle: 'Revoke all your other sessions?',
  othersText: (count: number) =>
    count === 1 ? 'The other device must sign in again.' : `The ${count} other devices must sign in again.`,
  signOut: 'Sign out',
}
