/** One sample of Prometheus' text format. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** prom-client writes `Nan` for unmeasured values; Prometheus parses numbers like Go, case-insensitively. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([Nn]a[Nn]|[+-]Inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y
const COMMENT = /^# (?:HELP ([a-zA-Z_:][\w:]*) .+|TYPE ([a-zA-Z_:][\w:]*) (?:counter|gauge|histogram|summary|untyped))$/

/** Parses the samples of a text in the format 0.0.4. Throws at the first invalid line, and at a repeated series. */
export function parseExposition(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const [typed, seen, samples]: [Set<string>, Set<string>, Sample[]] = [new Set(), new Set(), []]
  for (const line of text.split('\n').filter((each) => each !== '')) {
    if (line.startsWith('#')) {
      const comment = COMMENT.exec(line)
      if (!comment) throw new Error(`no comment of the format: ${line}`)
      const name = comment[2]
      if (name !== undefined && typed.has(name)) throw new Error(`${name} has its type twice`)
      if (name !== undefined) typed.add(name)
      continue
    }
    const [, name = '', inner = '', value = ''] = SAMPLE.exec(line) ?? []
    if (name === '') throw new Error(`no sample: ${line}`)
    if (![name, name.replace(/_(bucket|sum|count)$/, '')].some((each) => typed.has(each)))
      throw new Error(`${name} has no type`)
    const labels: Record<string, string> = {}
    LABEL.lastIndex = 0
    for (let at = 0; at < inner.length; at = LABEL.lastIndex) {
      const [, label = '', text = ''] = LABEL.exec(inner) ?? []
      if (label === '') throw new Error(`no labels: ${line}`)
      labels[label] = text
    }
    const series = `${name}{${inner}}`
    if (seen.has(series)) throw new Error(`${series} is told twice`)
    seen.add(series)
    samples.push({ name, labels, value: Number(value.replace('Inf', 'Infinity')) })
  }
  return samples
}

/** Returns the value of one series; undefined when there is none. */
export function sampleOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}) {
  const found = samples.find(
    (each) =>
      each.name === name &&
      Object.keys(each.labels).length === Object.keys(labels).length &&
      Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  )
  return found?.value
}
