import { useId } from 'preact/hooks'
import { singleKeys, switchSingleKeys } from '../wire/single-keys.ts'
import { words } from '../words/words.ts'

/** Switches the keys that need no Ctrl on and off, in this browser. */
export function SingleKeys() {
  const say = words().keys
  const id = useId()
  return (
    <div class="single-keys">
      <label>
        <input
          type="checkbox"
          checked={singleKeys.value}
          aria-describedby={id}
          onChange={({ currentTarget }) => switchSingleKeys(currentTarget.checked)}
        />
        {say.singleKeys}
      </label>
      <p class="dim" id={id}>
        {say.singleKeysMeans}
      </p>
    </div>
  )
}
