import { findHostAccountByName, type HostAccount } from '../../db/users.ts'
import { escapeControl } from '../../platform/escape-control.ts'
import { CommandError, type CommandContext } from '../../runtime/command.ts'

/**
 * Returns the user that a command names, and the name as a terminal may show it. Throws a CommandError for a name under
 * which nobody has signed in.
 */
export async function namedUser(
  { db }: Pick<CommandContext, 'db'>,
  username: string,
): Promise<{ user: HostAccount; shown: string }> {
  const user = await findHostAccountByName(db, username)
  const shown = escapeControl(username)
  if (!user) throw new CommandError(`l’utilisateur « ${shown} » ne s’est jamais connecté.`)
  return { user, shown }
}
