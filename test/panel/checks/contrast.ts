/** The colours of one theme, by token name. */
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
/** Colours of texts that appear on all backgrounds. */
const TEXTS = ['text', 'dim', 'accent', 'ok', 'warn', 'err', 'undo', 'magenta', 'cyan']
/** Colours that show where a control is. */
const CONTROLS = ['control']
/** Texts with a background of their own. */
const PAIRS = [
  ['on-fill', 'fill'],
  ['on-fill', 'danger'],
  ['on-fill', 'undo-fill'],
  ['bg', 'text'],
  ['bg', 'warn'],
] as const

const TEXT = 4.5
const CONTROL = 3

/** Describes every pair of colours that has too little contrast, or is missing. */
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
