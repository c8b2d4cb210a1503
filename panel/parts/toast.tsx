import { signal } from '@preact/signals'

const SHOWN_MS = 6_000

interface Toast {
  id: number
  text: string
}

const toasts = signal<readonly Toast[]>([])
const timers = new Map<number, ReturnType<typeof setTimeout>>()
let last = 0

/** Reports a success elsewhere than where the user is looking. Errors appear where they happen. */
export function toast(text: string): void {
  const id = ++last
  toasts.value = [...toasts.value.slice(-2), { id, text }]
  wait(id)
}

function wait(id: number): void {
  timers.set(
    id,
    setTimeout(() => {
      timers.delete(id)
      toasts.value = toasts.value.filter((each) => each.id !== id)
    }, SHOWN_MS),
  )
}

/** Renders the toasts; used once in the page. A toast stays while the pointer is on it. */
export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text }) => (
        <p key={id} class="toast" onPointerEnter={() => clearTimeout(timers.get(id))} onPointerLeave={() => wait(id)}>
          {text}
        </p>
      ))}
    </div>
  )
}
