import { canBeUpgraded } from '../nouns/checked.ts'
import { go } from '../router.ts'
import { rebooting } from '../wire/absence.ts'
import { checks } from '../wire/checks.ts'
import { type Container, containersAway } from '../wire/containers.ts'
import { hostAway } from '../wire/host.ts'
import { isAdmin, mayOperate } from '../wire/panel.ts'
import { type Action, act, asked, isUnderWay } from '../wire/tasks.ts'
import { words } from '../words/words.ts'
import { confirm } from './dialog.tsx'
import { Menu } from './menu.tsx'
import { reviewPlan } from './plan/open.ts'

type Named = Pick<Container, 'vmid' | 'name'>

/** Asks before an action that interrupts services. */
export async function confirmAction({ name }: Named, action: Action): Promise<boolean> {
  const { containers: say } = words()
  if (action === 'start') return true
  const question = { title: say.question[action](name), text: say.consequence[action], verb: say.verb[action] }
  return confirm({ ...question, danger: action === 'stop' })
}

/** Runs an action on a container, after a question if it interrupts services. */
export async function actOn(container: Named, action: Action): Promise<void> {
  if (!(await confirmAction(container, action))) return
  // Another action may have started while the question was open.
  const current = asked.value.get(container.vmid)
  if (!current || !isUnderWay(current)) await act(container.vmid, action)
}

/** The actions on a container of those who work on it: the most likely one as a button, the others in a menu. */
export function ContainerActions({ of: container }: { of: Container }) {
  const { containers: say, reboot } = words()
  const { vmid, name, status } = container
  if (!mayOperate(`lxc:${vmid}`)) return null
  const current = asked.value.get(vmid)
  const busy = current !== undefined && isUnderWay(current)
  const runs = status === 'running'
  const likeliest: Action = runs ? 'shutdown' : 'start'
  const check = checks.value?.find(({ target }) => target === `lxc:${vmid}`)
  const away = words().updates.awayBlocks
  const blocked = rebooting.value ? reboot.underWay : containersAway.value ? away : undefined
  const hostBlocked = hostAway.value ? away : blocked
  return (
    <div class="container-actions">
      <button
        type="button"
        class="button small likeliest"
        aria-label={say.verbOf[likeliest](name)}
        aria-disabled={busy || blocked !== undefined}
        title={blocked}
        onClick={() => {
          if (!busy && blocked === undefined) void actOn(container, likeliest)
        }}
      >
        {say.verb[likeliest]}
      </button>
      <Menu label={say.moreOf(name)}>
        {!runs && <Item blocked={blocked} verb={say.verb.start} act={() => actOn(container, 'start')} />}
        {runs && (
          <>
            {isAdmin.value &&
              (hostBlocked === undefined ? (
                <a href={`/terminal?target=lxc:${vmid}`}>{say.openTerminal}</a>
              ) : (
                <Item blocked={hostBlocked} verb={say.openTerminal} />
              ))}
            {(!check || canBeUpgraded(check)) && (
              <Item blocked={hostBlocked} verb={say.upgrade} act={() => upgradeHere(vmid)} />
            )}
            <Item blocked={blocked} verb={say.verb.reboot} act={() => actOn(container, 'reboot')} />
            <Item blocked={blocked} verb={say.verb.shutdown} act={() => actOn(container, 'shutdown')} />
            <Item blocked={blocked} verb={say.verb.stop} act={() => actOn(container, 'stop')} />
          </>
        )}
      </Menu>
    </div>
  )
}

interface ItemProps {
  verb: string
  /** The reason why it is disabled; the item shows it as a title. */
  blocked: string | undefined
  act?(): Promise<void>
}

function Item({ verb, blocked, act }: ItemProps) {
  return (
    <button
      type="button"
      aria-disabled={blocked !== undefined}
      title={blocked}
      onClick={() => {
        if (blocked === undefined) void act?.()
      }}
    >
      {verb}
    </button>
  )
}

/** Shows what an upgrade changes, and then the output of what was started there. */
async function upgradeHere(vmid: number): Promise<void> {
  const job = await reviewPlan(`lxc:${vmid}`)
  if (job !== undefined) go(`/updates/${job}`)
}
