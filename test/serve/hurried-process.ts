/*
 * Runs the service with a clock that is faster than the real one: schedules have a time each minute at most. Every process
 * of a test has the same clock, which goes on while none runs.
 */
const from = Number(process.env.HURRIED_FROM)
const speed = Number(process.env.HURRIED_SPEED)
const realNow = Date.now
const now = () => Math.round(from + (realNow() - from) * speed)

globalThis.Date = new Proxy(Date, {
  construct: (target, given) => (given.length === 0 ? new target(now()) : Reflect.construct(target, given)),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

const { startServer } = await import('../../serve/server.ts')
const { url } = await startServer(process.env)
process.stdout.write(`ready ${url}\n`)
