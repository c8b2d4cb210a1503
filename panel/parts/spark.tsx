interface SparkProps {
  /** Shares from 0 to 1, oldest first; null where unknown. */
  values: readonly (number | null)[]
  /** The number of values that fit. */
  of?: number
}

const [WIDTH, HEIGHT] = [96, 24]

/** A sparkline of shares from 0 to 1. It is hidden from screen readers because the figure stands beside it. */
export function Spark({ values, of = 60 }: SparkProps) {
  const shown = values.slice(-of)
  const step = WIDTH / (of - 1)
  const at = (n: number) => WIDTH - (shown.length - 1 - n) * step
  let path = ''
  let gap = true
  shown.forEach((value, n) => {
    if (value === null) {
      gap = true
      return
    }
    const y = HEIGHT - 1 - Math.min(1, Math.max(0, value)) * (HEIGHT - 2)
    path += `${gap ? 'M' : 'L'}${at(n).toFixed(1)} ${y.toFixed(1)}`
    gap = false
  })
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      <path d={path} />
    </svg>
  )
}
