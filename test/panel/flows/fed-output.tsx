import { signal } from '@preact/signals'
import { render } from 'preact'
import { createLines, type Lines } from '../../../panel/nouns/lines.ts'
import { Output } from '../../../panel/parts/output.tsx'

const EACH_FRAME = 500
const FRAMES = 100

/** The simplest implementation: every line is in the page. */
function Plain({ lines }: { lines: Lines }) {
  void version.value
  return (
    <pre class="plain">
      {Array.from({ length: lines.count() }, (_, n) => (
        <div key={n}>{lines.at(n).text}</div>
      ))}
    </pre>
  )
}

const lines = createLines()
const version = signal(0)
const root = document.createElement('main')
document.body.append(root)

/** The duration of each frame in ms, while `work` runs in it. */
async function frames(work: (n: number) => void): Promise<number[]> {
  const took: number[] = []
  let before = await frame()
  for (let n = 0; n < FRAMES; n += 1) {
    work(n)
    const now = await frame()
    took.push(now - before)
    before = now
  }
  return took
}

function frame(): Promise<number> {
  return new Promise((resolve) => requestAnimationFrame(resolve))
}

function feed(n: number): void {
  const line = (at: number) =>
    `\u001b[3${at % 8}mUnpacking\u001b[0m package-${n}-${at}:amd64 (1.2.3) over (1.2.2) ...\r\n`
  lines.feed(Array.from({ length: EACH_FRAME }, (_, at) => line(at)).join(''))
  version.value += 1
}

/** Measures the frames of an idle page, then of a page that gets 500 more lines in each frame. */
async function measure(shows: 'output' | 'plain') {
  const bare = await frames(() => {})
  const what =
    shows === 'plain' ? (
      <Plain lines={lines} />
    ) : (
      <Output lines={lines} version={version} title="output" ended={false} fileName="output.log" />
    )
  render(what, root)
  const fed = await frames(feed)
  return { bare, fed, lines: lines.count(), rows: root.querySelectorAll('.line, .plain > div').length }
}

Object.assign(globalThis, { measure })
