import { useId } from 'preact/hooks'

interface ChoiceProps<value extends string> {
  label: string
  value: string | undefined
  /** The options with their labels. */
  of: Readonly<Record<value, string>>
  choose(value: value): unknown
}

/** A choice among a few options: radio buttons in the shape of one control. */
export function Choice<value extends string>({ label, value, of, choose }: ChoiceProps<value>) {
  const name = useId()
  const keys: value[] = []
  for (const key in of) keys.push(key)
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      <div class="options">
        {keys.map((key) => (
          <label key={key}>
            <input
              type="radio"
              class="unseen"
              name={name}
              value={key}
              checked={key === value}
              onChange={() => void choose(key)}
            />
            <span class="button">{of[key]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
