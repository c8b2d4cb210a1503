import { signal } from '@preact/signals'
import { ClipboardPaste, Copy, Ear, X } from 'lucide'
import { copyText } from '../../parts/clipboard.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import type { Shell } from '../../wire/terminals.ts'
import { words } from '../../words/words.ts'
import { shellName } from './shell-tabs.tsx'

const KEPT = 'ops-panel.terminal-speaks'

/** Whether screen readers are told what the terminal shows: it costs time, so who needs it asks for it. */
export const speaks = signal(kept())

function kept(): boolean {
  try {
    return localStorage.getItem(KEPT) !== null
  } catch {
    return false
  }
}

function setSpeaks(on: boolean): void {
  speaks.value = on
  try {
    if (on) localStorage.setItem(KEPT, 'yes')
    else localStorage.removeItem(KEPT)
  } catch {
    // Not allowed here: it is asked for each time.
  }
}

async function copy(shell: Shell): Promise<void> {
  const { terminal: say } = words()
  const text = shell.screen.value?.selection() ?? ''
  if (text === '') toast(say.nothingToCopy)
  else toast((await copyText(text)) ? say.copied : say.notCopied)
  shell.screen.value?.focus()
}

async function paste(shell: Shell): Promise<void> {
  try {
    const text = await navigator.clipboard.readText()
    shell.screen.value?.paste(text)
  } catch {
    toast(words().terminal.notPasted)
  }
  shell.screen.value?.focus()
}

async function close(shell: Shell): Promise<void> {
  const { terminal: say } = words()
  const question = { title: say.closing(shellName(shell)), text: say.closingText, verb: say.close }
  if (shell.state.value.is !== 'open' || (await confirm(question))) shell.close()
}

/** What can be done with a terminal by hand. */
export function ShellTools({ shell }: { shell: Shell }) {
  const { terminal: say } = words()
  return (
    <div class="shell-tools">
      <button type="button" class="button plain" onClick={() => void copy(shell)}>
        <Icon of={Copy} />
        {say.copy}
      </button>
      <button type="button" class="button plain" onClick={() => void paste(shell)}>
        <Icon of={ClipboardPaste} />
        {say.paste}
      </button>
      <button type="button" class="button plain" aria-pressed={speaks.value} onClick={() => setSpeaks(!speaks.value)}>
        <Icon of={Ear} />
        {say.speak}
      </button>
      <button
        type="button"
        class="button plain close"
        aria-label={say.closeOf(shellName(shell))}
        onClick={() => void close(shell)}
      >
        <Icon of={X} />
        {say.close}
      </button>
    </div>
  )
}
