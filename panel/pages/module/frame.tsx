import { useEffect, useRef, useState } from 'preact/hooks'
import { shown } from '../../preferences.ts'
import { me } from '../../wire/panel.ts'
import { openBridge } from './bridge.ts'
import { moduleWords } from './words.ts'

interface ModuleFrameProps {
  id: string
  name: string
  address: string
  calls: readonly string[]
}

const HEIGHT = 480
/** Nobody types and then works in the frame sooner than that, without a pointer over it or the tab key. */
const TYPING_MS = 2_000

/** The colours that a frame learns, by their names in the panel's style. */
const COLORS = [
  'bg',
  'surface',
  'raised',
  'line',
  'control',
  'text',
  'dim',
  'accent',
  'fill',
  'on-fill',
  'ok',
  'warn',
  'err',
]

/**
 * The files of a module. The browser gives them an origin of their own: they reach neither the panel nor its cookie and
 * storage, and call the module's endpoints through the bridge alone.
 */
export function ModuleFrame({ id, name, address, calls }: ModuleFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [height, resize] = useState(HEIGHT)
  /** The reason why the page was stopped. */
  const [stopped, stop] = useState<keyof ReturnType<typeof moduleWords>['stopped']>()
  const say = moduleWords()
  useEffect(() => {
    if (stopped) return
    const window = () => frame.current?.contentWindow
    return openBridge({ calls: new Set(calls), frame: window, resize, stop: () => stop('flood') })
  }, [id, calls, stopped])
  // Browsers let a frame take the focus from a question or a form, and with it the password that is typed there.
  useEffect(() => {
    /** The field in which the user types, and the time of the last key. */
    let typed: { field: HTMLElement; at: number } | undefined
    const pressed = ({ key, target, timeStamp }: KeyboardEvent) => {
      // A question gives the focus back to the frame that it was asked for.
      const isField = target instanceof HTMLElement && target.matches(':is(input, textarea):not(dialog *)')
      typed = isField && key !== 'Tab' ? { field: target, at: timeStamp } : undefined
    }
    const look = () => {
      if (!frame.current || document.activeElement !== frame.current) return
      const question = document.querySelector<HTMLElement>('dialog:modal')
      // A finger is over nothing before it touches the frame.
      const canPoint = matchMedia('(hover: hover)').matches && !frame.current.matches(':hover')
      const isTyping = typed && canPoint && performance.now() - typed.at < TYPING_MS
      if (!question && !isTyping) return
      const field = question ? question.querySelector<HTMLElement>('input, button') : typed?.field
      field?.focus()
      stop(question ? 'focus' : 'typing')
    }
    const blurred = () => {
      look()
      // Firefox tells it before it has moved the focus.
      setTimeout(look)
    }
    addEventListener('keydown', pressed, true)
    addEventListener('blur', blurred)
    return () => {
      removeEventListener('keydown', pressed, true)
      removeEventListener('blur', blurred)
    }
  }, [])
  const tell = () => frame.current?.contentWindow?.postMessage({ panel: 1, ...look() }, '*')
  const preferred = me.value
  // Also when the user changes the theme or the language, once the page has them.
  useEffect(() => {
    const timer = requestAnimationFrame(tell)
    return () => cancelAnimationFrame(timer)
  }, [preferred?.theme, preferred?.lang])
  if (stopped)
    return (
      <div class="notice" role="status">
        <p>{say.stopped[stopped]}</p>
        <button type="button" class="button" onClick={() => stop(undefined)}>
          {say.startAgain}
        </button>
      </div>
    )
  return (
    <iframe
      ref={frame}
      class="module-frame"
      title={say.frameOf(name)}
      sandbox="allow-scripts allow-forms"
      allow=""
      referrerpolicy="no-referrer"
      src={address}
      height={height}
      onLoad={tell}
    />
  )
}

/** The theme, the language and the colours of the panel, for a frame that wants to look like it. */
function look(): { theme: string; language: string; colors: Record<string, string> } {
  const { theme, lang } = shown()
  const probe = document.createElement('span')
  document.body.append(probe)
  const colors = COLORS.map((color): [string, string] => {
    probe.style.color = `var(--${color})`
    return [`--${color}`, getComputedStyle(probe).color]
  })
  probe.remove()
  return { theme, language: lang, colors: Object.fromEntries(colors) }
}
