import { signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { deployment } from '../../wire/deployment.ts'
import { DeploymentLog } from './deployment-log.tsx'

/** The module of the deployment that was started in this window, before the service has told it. */
const started = signal<{ id: string; module: string }>()
/** The modules whose rows are shown. */
const rows = signal<ReadonlySet<string>>(new Set())

/** Notes where a deployment was started, so that its progress is shown there at once. */
export function noteStart(id: string | null, module: string): void {
  if (id !== null) started.value = { id, module }
}

function followedModule(): string | undefined {
  const { value } = deployment
  if (value?.told) return value.told.module
  return value && value.id === started.value?.id ? started.value.module : undefined
}

/** The progress of a module's deployment in its row. */
export function RowDeployment({ module }: { module: string }) {
  useLayoutEffect(() => {
    rows.value = new Set([...rows.peek(), module])
    return () => {
      rows.value = new Set([...rows.peek()].filter((each) => each !== module))
    }
  }, [module])
  return deployment.value && followedModule() === module ? <DeploymentLog of={deployment.value} /> : null
}

/** The progress of a deployment whose module has no row, such as one that was removed. */
export function LooseDeployment() {
  const module = followedModule()
  const isShown = module !== undefined && rows.value.has(module)
  return deployment.value && !isShown ? <DeploymentLog of={deployment.value} /> : null
}
