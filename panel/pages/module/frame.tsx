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
  const [stopped, stop] = useState<'flood' | 'focus'>()
  const say = moduleWords()
  useEffect(() => {
    if (stopped) return
    const window = () => frame.current?.contentWindow
    return openBridge({ calls: new Set(calls), frame: window, resize, stop: () => stop('flood') })
  }, [id, calls, stopped])
  // Browsers let a frame take the focus from a question, and with it the password that is typed there.
  useEffect(() => {
    const look = () => {
      const question = document.querySelector<HTMLElement>('dialog:modal')
      if (!question || !frame.current || document.activeElement !== frame.current) return
      question.querySelector<HTMLElement>('input, button')?.focus()
      stop('focus')
    }
    const blurred = () => {
      look()
      // Firefox tells it before it has moved the focus.
      setTimeout(look)
    }
    addEventListener('blur', blurred)
    return () => removeEventListener('blur', blurred)
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
