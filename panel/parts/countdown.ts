import { useEffect, useState } from 'preact/hooks'

/** The seconds that are left of a wait or a deadline; another `begun` begins them anew. */
export function useCountdown(seconds: number, begun: unknown): number {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    setLeft(seconds)
    if (seconds <= 0) return
    const until = performance.now() + seconds * 1000
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((until - performance.now()) / 1000))
      setLeft(rest)
      if (rest === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [begun])
  return left
}
