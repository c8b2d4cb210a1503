import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { guardLeaving } from '../router.ts'
import { useLoad } from '../wire/load.ts'
import { api } from '../wire/panel.ts'
import { words } from '../words/words.ts'
import { About } from './settings/about.tsx'
import { ChecksForm } from './settings/checks-form.tsx'
import { ForgeForm } from './settings/forge-form.tsx'
import { HostKey } from './settings/host-key.tsx'
import { ServiceKey } from './settings/service-key.tsx'
import { SettingsForm } from './settings/settings-form.tsx'
import { Shortcuts } from './settings/shortcuts.tsx'

/** The sections with unsaved changes. */
const unsaved = signal<ReadonlySet<string>>(new Set())

function mark(section: string, isUnsaved: boolean): void {
  if (unsaved.peek().has(section) === isUnsaved) return
  const next = new Set(unsaved.peek())
  if (isUnsaved) next.add(section)
  else next.delete(section)
  unsaved.value = next
}

/** The settings of the host, the sign-in of its account, its key, the hypervisor, the forge, checks and the shortcuts, each saved on its own; then the panel’s version. */
export function SettingsPage() {
  const say = words().settings
  const load = useLoad((signal) => api('GET /api/settings', { signal }))
  const hasUnsaved = unsaved.value.size > 0
  useEffect(() => {
    if (!hasUnsaved) return
    return guardLeaving((leave) => {
      const question = { title: say.leaveTitle, text: say.leaveText, verb: say.leave, danger: true }
      void confirm(question).then((yes) => yes && leave())
      return false
    })
  }, [hasUnsaved])
  useEffect(() => {
    unsaved.value = new Set()
  }, [])
  return (
    <>
      <Heading title={say.title} note={hasUnsaved && say.unsaved} />
      <Loaded of={load} rows={8}>
        {(known) => (
          <div class="settings">
            <SettingsForm
              title={say.host}
              note={say.hostNote}
              known={known}
              fields={['ssh_host', 'ssh_username', 'ssh_password']}
              mark={(is) => mark('host', is)}
              onSaved={load.reload}
            />
            <ServiceKey known={known} onSaved={load.reload} />
            <HostKey known={known} mark={(is) => mark('key', is)} onSaved={load.reload} />
            <SettingsForm
              title={say.hypervisor}
              note={say.hypervisorNote}
              known={known}
              fields={['hypervisor_url', 'hypervisor_token', 'hypervisor_fingerprint']}
              mark={(is) => mark('hypervisor', is)}
              onSaved={load.reload}
            />
            <ForgeForm known={known} mark={(is) => mark('forge', is)} onSaved={load.reload} />
            <ChecksForm known={known} mark={(is) => mark('checks', is)} onSaved={load.reload} />
            <Shortcuts stored={known.dashboard_shortcuts} mark={(is) => mark('shortcuts', is)} onSaved={load.reload} />
            <About />
          </div>
        )}
      </Loaded>
    </>
  )
}
