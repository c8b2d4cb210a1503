import { useEffect, useRef, useState } from 'preact/hooks'

/** Screen readers are told no more often of what changes all the time. */
const PAUSE_MS = 5_000

/** The text as it is to be spoken: the newest one, from time to time. */
export function useSpoken(text: string): string {
  const [spoken, speak] = useState('')
  const newest = useRef(text)
  newest.current = text
  useEffect(() => {
    const timer = setInterval(() => speak(newest.current), PAUSE_MS)
    return () => clearInterval(timer)
  }, [])
  return spoken
}
