import type { account as fr } from '../fr/account.ts'

export const account: typeof fr = {
  title: 'My account',
}
