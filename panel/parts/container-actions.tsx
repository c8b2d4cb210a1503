import { go } from '../router.ts'
import type { Container } from '../wire/containers.ts'
import { isAdmin } from '../wire/panel.ts'
import { type Action, act, asked, isUnderWay, upgrade } from '../wire/tasks.ts'
import { words } from '../words/words.ts'
import { confirm } from './dialog.tsx'
import { Menu } from './menu.tsx'

type Named = Pick<Container, 'vmid' | 'name'>

/** Asks about what cuts people off. */
export async function mayAct({ name }: Named, action: Action): Promise<boolean> {
  const { containers: say } = words()
  if (action === 'start') return true
  const question = { title: say.question[action](name), text: say.consequence[action], verb: say.verb[action] }
  return confirm({ ...question, danger: action === 'stop' })
}

/** Does something to a container; what cuts people off is asked about first. */
export async function actOn(container: Named, action: Action): Promise<void> {
  if (!(await mayAct(container, action))) return
  // Something else may have begun while it was asked about.
  const current = asked.value.get(container.vmid)
  if (!current || !isUnderWay(current)) await act(container.vmid, action)
}

/** What an administrator can do with a container: the likeliest as a button, the rest in a menu. */
export function ContainerActions({ of: container }: { of: Container }) {
  const { containers: say } = words()
  if (!isAdmin.value) return null
  const { vmid, name, status } = container
  const current = asked.value.get(vmid)
  const busy = current !== undefined && isUnderWay(current)
  const runs = status === 'running'
  const likeliest: Action = runs ? 'shutdown' : 'start'
  return (
    <div class="container-actions">
      <button
        type="button"
        class="button small likeliest"
        aria-label={say.verbOf[likeliest](name)}
        aria-disabled={busy}
        onClick={() => {
          if (!busy) void actOn(container, likeliest)
        }}
      >
        {say.verb[likeliest]}
      </button>
      <Menu label={say.moreOf(name)}>
        {!runs && (
          <button type="button" onClick={() => void actOn(container, 'start')}>
            {say.verb.start}
          </button>
        )}
        {runs && (
          <>
            <a href={`/terminal?target=lxc:${vmid}`}>{say.openTerminal}</a>
            <button type="button" onClick={() => void upgradeHere(vmid)}>
              {say.upgrade}
            </button>
            <button type="button" onClick={() => void actOn(container, 'reboot')}>
              {say.verb.reboot}
            </button>
            <button type="button" onClick={() => void actOn(container, 'shutdown')}>
              {say.verb.shutdown}
            </button>
            <button type="button" onClick={() => void actOn(container, 'stop')}>
              {say.verb.stop}
            </button>
          </>
        )}
      </Menu>
    </div>
  )
}

/** Starts an upgrade, and goes to its output. */
export async function upgradeHere(vmid: number): Promise<void> {
  const job = await upgrade(vmid)
  if (job) go(`/updates/${job}`)
}
