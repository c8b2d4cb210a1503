import type { signIn as fr } from '../fr/signIn.ts'

export const signIn: typeof fr = {
  title: 'Sign in',
  with: 'Use your account on the host, as for SSH.',
  username: 'Username',
  password: 'Password',
  submit: 'Sign in',
  usernameMissing: 'Enter your username.',
  passwordMissing: 'Enter your password.',
  showPassword: 'Show password',
  expired: 'Your session has ended. Sign in again to continue where you were.',
  signedOut: 'You are signed out.',
  unanswered:
    'You are signed out here, but the service did not answer. Keep this page open: it ends your session as soon as the service is back.',
  again: (seconds: number) => `Try again in ${seconds} s.`,
}
