import { canBeRepaired, isBroken } from '../nouns/checked.ts'
import { checks } from '../wire/checks.ts'
import type { Container } from '../wire/containers.ts'
import { words } from '../words/words.ts'
import { Status } from './status.tsx'

/** The status of a container. A running container with broken packages is not shown as ok. */
export function ContainerStatus({ of: { vmid, status, lock }, hidden = false }: { of: Container; hidden?: boolean }) {
  const { containers: say } = words()
  const check = checks.value?.find(({ target }) => target === `lxc:${vmid}`)
  if (lock)
    return (
      <Status is="run" hidden={hidden}>
        {say.locked(lock)}
      </Status>
    )
  if (status === 'running' && check && isBroken(check))
    return (
      <Status is="err" hidden={hidden}>
        {canBeRepaired(check) || check.state === 'blocked' ? say.runningBroken : say.runningFailed}
      </Status>
    )
  if (status === 'running')
    return (
      <Status is="ok" hidden={hidden}>
        {say.running}
      </Status>
    )
  return (
    <Status is={status === 'stopped' ? 'off' : 'unknown'} hidden={hidden}>
      {status === 'stopped' ? say.stopped : status}
    </Status>
  )
}
