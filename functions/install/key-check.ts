import type { Log } from '../../platform/log.ts'
import { acceptedKeys, type SshAccount, SshError } from '../../ssh/ssh.ts'
import type { Settings } from '../services.ts'
import { letsIn } from '../settings/key-trial.ts'
import type { Check } from './host-check.ts'

/** Checks what the other checks of the account do not show: a refused key behind a password, and keys left behind. */
export async function checkKeys(settings: Settings, account: SshAccount, log: Log): Promise<Omit<Check, 'id'>[]> {
  const told = (message: string) => ({ ok: false, optional: true, message })
  const { next } = await settings.sshKeys()
  const retired = await settings.retiredSshKeys()
  return [
    ...(account.key && account.password !== '' ? [await checkKey(account, account.key, log)] : []),
    ...(next
      ? [told('Une nouvelle clé du compte de service attend d’être confirmée, dans les réglages du panneau.')]
      : []),
    ...(await checkRetired(account, retired)),
  ]
}

async function checkRetired(account: SshAccount, keys: readonly string[]): Promise<Omit<Check, 'id'>[]> {
  try {
    return (await acceptedKeys(account, keys)).map((key) => ({
      ok: false,
      message: `L’hôte accepte encore une ancienne clé du panneau : retirez-la de authorized_keys (${key}).`,
    }))
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    const message = `D’anciennes clés du panneau n’ont pas pu être essayées (${error.message}) : ${keys.join(', ')}.`
    return [{ ok: false, optional: true, message }]
  }
}

async function checkKey(account: SshAccount, key: string, log: Log): Promise<Omit<Check, 'id'>> {
  const { username } = account
  try {
    if (await letsIn(account, key, log)) return { ok: true, message: `L’hôte accepte la clé de ${username}.` }
    return { ok: false, message: `L’hôte refuse la clé de ${username} ; seul son mot de passe sert.` }
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    return { ok: false, message: `La clé de ${username} n’a pas pu être essayée (${error.message}).` }
  }
}
