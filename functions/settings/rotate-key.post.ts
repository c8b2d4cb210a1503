import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { authorizedLine, HOST_HELPER } from '../../ssh/ssh.ts'
import { defineFunction } from '../services.ts'
import { addKey, removeKey, whyNot } from './authorized-keys.ts'
import { changeEvent } from './change-event.ts'
import { letsIn, stillAccepted } from './key-trial.ts'

const EXAMPLE_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMb3sTN0m5oYh1nJ8o1K5b7jGq0Vw2Q4dC6rX9eYtZpL'

export default defineFunction({
  method: 'POST',
  path: '/api/settings/ssh-key/rotate',
  summary: 'Give the service account a new key',
  description:
    'Makes a new SSH key for the service account, adds it to the account’s `authorized_keys` over the present connection, tries it, uses it from then on, and removes the line of the key before it. Where the account cannot add the line, or sshd reads another file, `state` is `waiting`: add `authorized_key` on the host, then call again with `confirmed`. Until the host accepts the new key, the present key or password stays in use. An account that has a password only gets its first key in the same way; `drop_password` then forgets the password, unless sudo needs it.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['ssh_key_rotated'],
  request: {
    body: z.strictObject({
      confirmed: z.boolean().optional().meta({ description: 'The line of the waiting key has been added by hand.' }),
      drop_password: z.boolean().optional().meta({ description: 'Forget the stored password of the account.' }),
    }),
  },
  response: z.object({
    state: z.enum(['rotated', 'waiting']),
    ssh_public_key: z.string().meta({ description: 'The new public key.' }),
    authorized_key: z.string().meta({ description: 'The line for `authorized_keys`.' }),
    old_key_left: z.boolean().meta({ description: 'Whether the host still accepts, or may accept, a key before it.' }),
    message: z.string(),
  }),
  example: {
    body: {},
    response: {
      state: 'rotated',
      ssh_public_key: EXAMPLE_KEY,
      authorized_key: authorizedLine({ publicKey: EXAMPLE_KEY }),
      old_key_left: false,
      message: 'La nouvelle clé est en service.',
    },
  },
  errors: [
    'ssh_failed',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'ssh_key_none_waiting',
    'ssh_key_refused',
    'sudo_wants_password',
  ],

  async handler({ body: { confirmed = false, drop_password = false } }, context) {
    const { settings, host, log, user, auditEntry, fail } = context
    const before = await settings.sshAccount()
    const { current, next } = await settings.sshKeys()
    if (confirmed && !next) throw fail('ssh_key_none_waiting')
    const { username } = before
    if (drop_password && before.password !== '' && (await host.elevation()) === 'password')
      throw fail('sudo_wants_password', {
        values: { username, rule: `${username} ALL=(root) NOPASSWD: ${HOST_HELPER}` },
      })

    // The key is stored before the host has it: a service that is stopped here goes on with the same one.
    const key = next ?? (await settings.nextSshKey())
    const added = confirmed ? { line: authorizedLine(key) } : await addKey(host, key, current)
    const answer = { ssh_public_key: key.publicKey, authorized_key: added.line, old_key_left: current !== undefined }
    const waiting = (why: Parameters<typeof whyNot>[0]) => {
      const message = `${username} n’a pas pu ajouter la nouvelle clé lui-même : ${whyNot(why)}. Ajoutez la ligne à ses clés sur l’hôte, puis confirmez. D’ici là, rien ne change.`
      return { ...answer, state: 'waiting' as const, message }
    }
    if (added.obstacle) return waiting(added.obstacle)
    const account = await settings.sshAccount()
    if (!(await letsIn(account, key.privateKey, log))) {
      if (confirmed) throw fail('ssh_key_refused', { values: { username } })
      await removeKey(host, key).catch((error: unknown) =>
        log.warn({ err: error }, 'an unused key is left on the host'),
      )
      return waiting('elsewhere')
    }

    const stored = await settings.sshKeys()
    if (stored.next?.publicKey !== key.publicKey || stored.current?.publicKey !== current?.publicKey)
      throw fail('ssh_key_none_waiting')
    // All of them: each rotation that was killed after this point has left one that nobody has tried to remove.
    const keys = [...(current ? [current.publicKey] : []), ...(await settings.retiredSshKeys())]
    const drops = drop_password && before.password !== ''
    await settings.change(
      { ssh_key: key.privateKey, ssh_key_retired: keys.join('\n') },
      () => [
        auditEntry('ssh_key_rotated', {
          details: {
            fingerprint_before: current?.fingerprint ?? '',
            fingerprint_after: key.fingerprint,
            password: before.password === '' ? 'none' : drops ? 'forgotten' : 'kept',
          },
        }),
        changeEvent(context, { username: user.username, keys: ['ssh_key', ...(drops ? ['ssh_password'] : [])] }),
      ],
      ['ssh_key_next', ...(drops ? (['ssh_password'] as const) : [])],
    )

    for (const publicKey of keys)
      await removeKey(host, { publicKey }).catch((error: unknown) =>
        log.warn({ err: error, publicKey }, 'the line of a former key could not be removed'),
      )
    // The line may be in another file, too: only the host's refusal shows that a key is gone.
    const left = await stillAccepted(account, keys)
    for (const publicKey of left.slice(MOST_RETIRED)) log.warn({ publicKey }, 'a former key is no longer looked for')
    await settings.setRetiredSshKeys(left.slice(0, MOST_RETIRED))
    const message =
      left.length === 0
        ? 'La nouvelle clé est en service.'
        : `La nouvelle clé est en service. L’ancienne clé n’a pas pu être retirée de l’hôte : retirez de ses clés ${left.join(', ')}`
    return { ...answer, state: 'rotated' as const, old_key_left: left.length > 0, message }
  },
})

/** Keys that stay in the list after an attempt to remove them: a host that never lets a line be removed would make it longer for ever. */
const MOST_RETIRED = 5
