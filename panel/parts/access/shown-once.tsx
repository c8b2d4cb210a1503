import { useSignal } from '@preact/signals'
import { Copy, Download } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { copyText, saveFile } from '../clipboard.ts'
import { Dialog } from '../dialog.tsx'
import { Icon } from '../icon.tsx'
import { accessWords } from './words.ts'

/** A dialog that only its content closes. */
export function LastingDialog({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Dialog title={title} onClose={stayOpen} class={FACTOR_DIALOG}>
      {children}
    </Dialog>
  )
}

/** The class of the dialogs that enrol factors or show something once; one of them at most is there. */
export const FACTOR_DIALOG = 'factor-dialog'

/** Keeps such a dialog: browsers close a modal dialog at the second Escape, whatever the page says to the first one. */
export function stayOpen(): void {
  document.querySelector<HTMLDialogElement>(`dialog.${FACTOR_DIALOG}:not([open])`)?.showModal()
}

interface ShownOnceProps {
  /** The text to copy. */
  text: string
  /** The name of the file, where it can be saved as one. */
  file?: string
}

/** The buttons beside a secret that is shown once. */
export function KeepButtons({ text, file }: ShownOnceProps) {
  const say = accessWords().once
  const copied = useSignal<boolean>()
  return (
    <div class="keep">
      <button
        type="button"
        class="button small"
        onClick={async () => {
          copied.value = await copyText(text)
        }}
      >
        <Icon of={Copy} />
        {say.copy}
      </button>
      {file && (
        <button
          type="button"
          class="button small"
          onClick={() => saveFile(file, new Blob([`${text}\n`], { type: 'text/plain' }))}
        >
          <Icon of={Download} />
          {say.download}
        </button>
      )}
      <span class="dim" role="status">
        {copied.value === undefined ? '' : copied.value ? say.copied : say.notCopied}
      </span>
    </div>
  )
}

interface RecoveryCodesProps {
  codes: readonly string[]
  /** Called once the user says that they have kept them. */
  done(): void
}

/** Ten recovery codes, shown once. */
export function RecoveryCodes({ codes, done }: RecoveryCodesProps) {
  const say = accessWords().once
  const isKept = useSignal(false)
  const shown = useRef<HTMLDivElement>(null)
  // The form that was answered is gone, and the focus with it.
  useLayoutEffect(() => shown.current?.focus(), [])
  return (
    <div class="recovery" ref={shown} tabIndex={-1}>
      <p>{say.codesText}</p>
      <ol class="codes mono" aria-label={say.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <KeepButtons text={codes.join('\n')} file="ops-panel-recovery-codes.txt" />
      <label class="kept">
        <input
          type="checkbox"
          checked={isKept.value}
          onChange={({ currentTarget }) => {
            isKept.value = currentTarget.checked
          }}
        />
        {say.kept}
      </label>
      <div class="buttons">
        <button
          type="button"
          class="button primary"
          aria-disabled={!isKept.value}
          title={isKept.value ? undefined : say.keepFirst}
          onClick={() => isKept.value && done()}
        >
          {say.done}
        </button>
      </div>
    </div>
  )
}
