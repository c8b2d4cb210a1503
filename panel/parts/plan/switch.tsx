import { useId } from 'preact/hooks'

interface SwitchProps {
  label: string
  hint: string
  isOn: boolean
  /** `removes` marks what deletes something. */
  kind?: 'removes'
  /** Nobody can turn it on. */
  isBarred?: boolean
  turn(isOn: boolean): void
}

/** A switch with its label and a sentence about what it does. */
export function Switch({ label, hint, isOn, kind, isBarred = false, turn }: SwitchProps) {
  const id = useId()
  return (
    <label class={kind ? `switch ${kind}` : 'switch'}>
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        aria-describedby={id}
        checked={isOn}
        disabled={isBarred && !isOn}
        onChange={({ currentTarget }) => turn(currentTarget.checked)}
      />
      <span class="grow">
        <span class="name">{label}</span>
        <span class="hint small dim" id={id}>
          {hint}
        </span>
      </span>
    </label>
  )
}
