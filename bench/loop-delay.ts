import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Watches this process's event loop: the longest time in milliseconds that it stood still since it was last asked. */
export function watchLoop(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  return () => {
    const longest = delay.max / 1e6
    delay.reset()
    return longest
  }
}
