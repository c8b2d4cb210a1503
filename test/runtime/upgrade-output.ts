import type { DemoHost } from '../../demo/host.ts'

/** The output of an upgrade, handed out by the test in the given order. */
export function controlledOutput(demo: DemoHost) {
  const waiting: Buffer[] = []
  let wake = () => {}
  let ended = false
  const given: Buffer[] = []
  demo.upgradeOutput = async function* () {
    for (;;) {
      const next = waiting.shift()
      if (next) yield next
      else if (ended) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    print(data: string | Buffer) {
      const bytes = Buffer.from(data)
      given.push(bytes)
      waiting.push(bytes)
      wake()
    },
    end() {
      ended = true
      wake()
    },
    /** The whole output in its stored form: invalid bytes as U+FFFD. */
    text: () => Buffer.concat(given).toString(),
  }
}
