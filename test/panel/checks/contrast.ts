/** The colours of one theme, by the name of their token. */
export type Colours = ReadonlyMap<string, string>

/** The colours in a stylesheet of tokens: `--name: light-dark(#rrggbb, #rrggbb)`. */
export function coloursIn(css: string): { light: Colours; dark: Colours } {
  const light = new Map<string, string>()
  const dark = new Map<string, string>()
  for (const [, name = '', forLight = '', forDark = ''] of css.matchAll(
    /--([\w-]+):\s*light-dark\(\s*(#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\s*\)/gi,
  )) {
    light.set(name, forLight)
    dark.set(name, forDark)
  }
  return { light, dark }
}

/** The contrast of two colours. Source: WCAG 2.2, relative luminance and contrast ratio. */
export function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const BACKGROUNDS = ['bg', 'surface', 'raised']
/** What is read on each of the backgrounds. */
const TEXTS = ['text', 'dim', 'accent', 'ok', 'warn', 'err', 'magenta', 'cyan']
/** What one has to see to know where to press. */
const CONTROLS = ['control']
/** What is read on a background of its own. */
const PAIRS = [
  ['on-fill', 'fill'],
  ['on-fill', 'danger'],
  ['bg', 'text'],
  ['bg', 'warn'],
] as const

const TEXT = 4.5
const CONTROL = 3

/** Every pair that is too weak, or missing, as a sentence. */
export function weakIn(colours: Colours): string[] {
  const pairs = [
    ...TEXTS.flatMap((text) => BACKGROUNDS.map((background) => [text, background, TEXT] as const)),
    ...CONTROLS.flatMap((control) => BACKGROUNDS.map((background) => [control, background, CONTROL] as const)),
    ...PAIRS.map(([text, background]) => [text, background, TEXT] as const),
  ]
  return pairs.flatMap(([text, background, least]) => {
    const [one, other] = [colours.get(text), colours.get(background)]
    if (!one || !other) return [`${text} or ${background} is no colour`]
    const found = contrast(one, other)
    return found >= least ? [] : [`${text} on ${background}: ${found.toFixed(2)} of ${least}`]
  })
}
