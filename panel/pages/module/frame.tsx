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
  useEffect(() => openBridge({ calls: new Set(calls), frame: () => frame.current?.contentWindow, resize }), [id, calls])
  const tell = () => frame.current?.contentWindow?.postMessage({ panel: 1, ...look() }, '*')
  const preferred = me.value
  // Also when the user changes the theme or the language, once the page has them.
  useEffect(() => {
    const timer = requestAnimationFrame(tell)
    return () => cancelAnimationFrame(timer)
  }, [preferred?.theme, preferred?.lang])
  return (
    <iframe
      ref={frame}
      class="module-frame"
      title={moduleWords().frameOf(name)}
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
