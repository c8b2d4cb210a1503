import type { Container } from '../wire/containers.ts'
import { words } from '../words/words.ts'
import { Status } from './status.tsx'

/** How a container is, in a shape and a word. */
export function ContainerStatus({ of: { status, lock }, hidden = false }: { of: Container; hidden?: boolean }) {
  const { containers: say } = words()
  if (lock)
    return (
      <Status is="run" hidden={hidden}>
        {say.locked(lock)}
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
