/** The browser and system that a `User-Agent` names; undefined for programs. */
export interface Device {
  browser: string | undefined
  system: string | undefined
}

// Most user agents name other browsers too, so the first match counts.
const BROWSERS = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/[\d.]+.*\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
  [/^node\b|undici/i, 'Node.js'],
] as const

const SYSTEMS = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

export function deviceOf(userAgent: string): Device {
  const named = (all: readonly (readonly [RegExp, string])[]) => all.find(([form]) => form.test(userAgent))?.[1]
  return { browser: named(BROWSERS), system: named(SYSTEMS) }
}
