import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Watches this process's event loop; returns its longest stall since the last call, in milliseconds. */
export function watchLoop(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  return () => {
    const longest = delay.max / 1e6
    delay.reset()
    return longest
  }
}
