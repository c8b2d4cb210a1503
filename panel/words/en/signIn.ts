import type { signIn as fr } from '../fr/signIn.ts'

export const signIn: typeof fr = {
  title: 'Sign in',
  with: 'Use your account on the host, the one of your SSH logins.',
  username: 'User name',
  password: 'Password',
  submit: 'Sign in',
  usernameMissing: 'Enter your user name.',
  passwordMissing: 'Enter your password.',
  show: 'Show',
  showPassword: 'Show the password',
  expired: 'Your session has ended. Sign in again to go on where you were.',
  signedOut: 'You are signed out.',
  unheard:
    'You are signed out here, but the service did not answer: keep this page open, it will end your session as soon as the service is back.',
  again: (seconds: number) => `Try again in ${seconds} s.`,
}
