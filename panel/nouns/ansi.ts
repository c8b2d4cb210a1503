/**
 * The style of terminal characters as one number: a colour (0 none, 1 to 8 for the hues of the palette) and flags; 0 is plain. Bright
 * colours share the hue of normal ones. Backgrounds are ignored, because no background is legible in both themes. Source: ECMA-48, SGR;
 * xterm's 256 colours.
 */
export type Style = number

const HUE = 0b1111
export const BOLD = 16
export const FAINT = 32
export const UNDERLINED = 64
export const INVERSE = 128

const FLAGS = [
  [BOLD, 'bold'],
  [FAINT, 'faint'],
  [UNDERLINED, 'underlined'],
  [INVERSE, 'inverse'],
] as const

/** The CSS classes of a style: `hue-1` (red) to `hue-7` (white), `hue-8` for black, and the flags. */
export function classesOf(style: Style): string {
  const hue = style & HUE
  const names = FLAGS.flatMap(([flag, name]) => (style & flag ? [name] : []))
  return [...(hue ? [`hue-${hue}`] : []), ...names].join(' ')
}

/** Returns the style after an SGR sequence with these parameters, for example `1;31`. */
export function restyled(style: Style, parameters: string): Style {
  const given = parameters.split(/[;:]/).map((each) => Number(each || 0))
  let next = style
  const hue = (colour: number) => {
    next = (next & ~HUE) | hueOf(colour)
  }
  for (let n = 0; n < given.length; n += 1) {
    const code = given[n] ?? 0
    if (code === 0) next = 0
    else if (code === 1) next |= BOLD
    else if (code === 2) next |= FAINT
    else if (code === 4) next |= UNDERLINED
    else if (code === 7) next |= INVERSE
    else if (code === 22) next &= ~(BOLD | FAINT)
    else if (code === 24) next &= ~UNDERLINED
    else if (code === 27) next &= ~INVERSE
    else if (code >= 30 && code <= 37) hue(code - 30)
    else if (code >= 90 && code <= 97) hue(code - 90)
    else if (code === 39) next &= ~HUE
    else if (code === 38 || code === 48) {
      const isIndexed = given[n + 1] === 5
      const [red = 0, green = 0, blue = 0] = given.slice(n + 2)
      if (code === 38) hue(isIndexed ? nearestIndexed(red) : nearest(red, green, blue))
      n += isIndexed ? 2 : 4
    }
  }
  return next
}

/** The hue of an ANSI colour from 0 (black) to 7 (white). */
function hueOf(colour: number): number {
  return colour === 0 ? 8 : colour
}

/** The nearest of the eight colours to one of xterm's 256. */
function nearestIndexed(index: number): number {
  if (index < 16) return index % 8
  if (index >= 232) return index < 244 ? 0 : 7
  const cube = index - 16
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

/** Reduces an RGB colour to one of eight by its strong components. */
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue)
  if (most < 64) return 0
  const isStrong = (part: number) => part > most * 0.6
  return (isStrong(red) ? 1 : 0) + (isStrong(green) ? 2 : 0) + (isStrong(blue) ? 4 : 0)
}
