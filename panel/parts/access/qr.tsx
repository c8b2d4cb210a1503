import { useEffect, useState } from 'preact/hooks'
import { accessWords } from './words.ts'

/** A text as a QR code, dark on light in every theme, as cameras expect it. Nothing is shown while its code cannot be loaded. */
export function Qr({ text }: { text: string }) {
  const [drawn, draw] = useState<{ path: string; size: number }>()
  useEffect(() => {
    let isWanted = true
    void drawing(text).then(
      (made) => isWanted && draw(made),
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [text])
  if (!drawn) return <div class="qr" />
  const { path, size } = drawn
  return (
    <div class="qr">
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={accessWords().totp.qr} shape-rendering="crispEdges">
        <rect width={size} height={size} fill="#fff" />
        <path d={path} fill="#000" />
      </svg>
    </div>
  )
}

/** One rectangle for each run of dark modules in a row. */
async function drawing(text: string): Promise<{ path: string; size: number }> {
  const { encodeQR } = await import('qr')
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const path = rows.flatMap((row, y) =>
    row.map((isDark, x) => {
      if (!isDark || row[x - 1]) return ''
      const end = row.indexOf(false, x)
      const width = (end < 0 ? row.length : end) - x
      return `M${x} ${y}h${width}v1h-${width}z`
    }),
  )
  return { path: path.join(''), size: rows.length }
}
