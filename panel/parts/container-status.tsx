import { canBeRepaired, type Check, isBroken, isHarmed, isUnfinished, shownOf } from '../nouns/checked.ts'
import { checks } from '../wire/checks.ts'
import type { Container } from '../wire/containers.ts'
import { words } from '../words/words.ts'
import { Status } from './status.tsx'

/** The state of a container with what its check has found, in the shape and the word of the page of updates. */
export function ContainerShown({ of }: { of: Container }) {
  const { updates: say } = words()
  const check = checks.value?.find(({ target }) => target === `lxc:${of.vmid}`)
  if (of.lock || of.status !== 'running' || !check || check.state === 'stopped')
    return <ContainerStatus of={of} hidden />
  const { kind, word } = shownOf(check)
  return (
    <span title={say.words[word]}>
      <Status is={kind} hidden>
        {say.words[word]}
      </Status>
    </span>
  )
}

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
        {brokenWord(check)}
      </Status>
    )
  if (status === 'running' && check && isUnfinished(check))
    return (
      <Status is="warn" hidden={hidden}>
        {say.runningBroken}
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

/** The broken things in a running container: those that its upgrade harmed come first, as in the list of updates. */
function brokenWord(check: Check): string {
  const { containers: say } = words()
  if (isHarmed(check)) return say.runningHarmed
  return canBeRepaired(check) || check.state === 'blocked' ? say.runningBroken : say.runningFailed
}
