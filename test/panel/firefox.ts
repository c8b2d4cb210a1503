import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { temporaryFolder } from '../db/folder.ts'

/** The Firefox of the tests. FIREFOX names another one. */
const FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr'

const Answer = z.looseObject({ id: z.number(), type: z.string(), result: z.unknown(), message: z.string().optional() })
const Created = z.object({ context: z.string() })
interface Context {
  context: string
  url: string
  children?: Context[] | null | undefined
}
const Context: z.ZodType<Context> = z.lazy(() =>
  z.object({ context: z.string(), url: z.string(), children: z.array(Context).nullish() }),
)
const Tree = z.object({ contexts: z.array(Context) })
const Evaluated = z.looseObject({
  type: z.string(),
  result: z.looseObject({ value: z.unknown().optional() }).optional(),
})

/** A window of a Firefox of its own, through WebDriver BiDi, which it speaks itself. It ends with the test. */
export async function openFirefox(url: string) {
  const profile = await temporaryFolder()
  const firefox = spawn(FIREFOX, ['--headless', '--remote-debugging-port=0', '--profile', profile, '--no-remote'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
  })
  const ended = new Promise<void>((resolve) => firefox.once('close', () => resolve()))
  onTestFinished(async () => {
    firefox.kill('SIGKILL')
    await ended
  })
  let address: string | undefined
  for await (const line of createInterface(firefox.stderr)) {
    address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
    if (address) break
  }
  if (!address) throw new Error('Firefox did not start')
  firefox.stderr.resume()
  const socket = new WebSocket(`${address}/session`)
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  let last = 0
  const send = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++last
      socket.on('message', function heard(data) {
        const { success, data: answer } = Answer.safeParse(JSON.parse(String(data)))
        if (!success || answer.id !== id) return
        socket.off('message', heard)
        if (answer.type === 'success') resolve(answer.result)
        else reject(new Error(`${method}: ${answer.message}`))
      })
      socket.send(JSON.stringify({ id, method, params }))
    })
  await send('session.new', { capabilities: {} })
  const { context } = Created.parse(await send('browsingContext.create', { type: 'tab' }))
  const goto = (to: string) => send('browsingContext.navigate', { context, url: to, wait: 'complete' })
  const evaluateIn = async (where: string, expression: string): Promise<unknown> => {
    const asked = { expression, target: { context: where }, awaitPromise: true }
    const { type, result } = Evaluated.parse(await send('script.evaluate', asked))
    if (type !== 'success') throw new Error(`the script failed: ${JSON.stringify(result)}`)
    return result?.value
  }
  await goto(url)
  return {
    goto,
    /** Evaluates an expression in the page; of a promise, its value. */
    evaluate: (expression: string) => evaluateIn(context, expression),
    /** The same in the only frame of the page. */
    async evaluateInFrame(expression: string) {
      const { contexts } = Tree.parse(await send('browsingContext.getTree', { root: context }))
      const [frame] = contexts[0]?.children ?? []
      if (!frame) throw new Error('the page has no frame')
      return evaluateIn(frame.context, expression)
    },
    /** The addresses of all tabs. */
    async tabs() {
      return Tree.parse(await send('browsingContext.getTree', {})).contexts.map((each) => each.url)
    },
  }
}

/** An expression that waits for an element of the page. */
export const shown = (selector: string) => `new Promise((resolve) => {
  const look = () => document.querySelector(${JSON.stringify(selector)}) && (observer.disconnect(), resolve(true))
  const observer = new MutationObserver(look)
  observer.observe(document, { childList: true, subtree: true, characterData: true })
  look()
})`
