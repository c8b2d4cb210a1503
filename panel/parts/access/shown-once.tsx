import { useSignal } from '@preact/signals'
import { Copy, Download } from 'lucide'
import { copyText, saveFile } from '../clipboard.ts'
import { Icon } from '../icon.tsx'
import { accessWords } from './words.ts'

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
  return (
    <div class="recovery">
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
