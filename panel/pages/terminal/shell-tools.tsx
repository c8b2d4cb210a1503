import { signal } from '@preact/signals'
import { ClipboardPaste, Copy, Ear, X } from 'lucide'
import { copyText } from '../../parts/clipboard.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import type { Shell } from '../../wire/terminals.ts'
import { terminalWords } from '../../wire/terminal-words.ts'
import { shellName } from './shell-tabs.tsx'

const STORAGE_KEY = 'ops-panel.terminal-speaks'

/** Whether screen readers announce the output. It costs time, so the user switches it on. */
export const speaks = signal(kept())

function kept(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== null
  } catch {
    return false
  }
}

function setSpeaks(on: boolean): void {
  speaks.value = on
  try {
    if (on) localStorage.setItem(STORAGE_KEY, 'yes')
    else localStorage.removeItem(STORAGE_KEY)
  } catch {
    // The browser does not allow storage, so the choice lasts until the page is reloaded.
  }
}

async function copy(shell: Shell): Promise<void> {
  const say = terminalWords()
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
    toast(terminalWords().notPasted)
  }
  shell.screen.value?.focus()
}

async function close(shell: Shell): Promise<void> {
  const say = terminalWords()
  const question = { title: say.closing(shellName(shell)), text: say.closingText, verb: say.close }
  if (shell.state.value.is !== 'open' || (await confirm(question))) shell.close()
}

/** The buttons of a terminal. */
export function ShellTools({ shell }: { shell: Shell }) {
  const say = terminalWords()
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
