/**
 * xterm.js uses `<style>` elements and `style` attributes, which the policy of this page forbids. This shim redirects both to constructed
 * style sheets and `element.style`, which it allows.
 */
const setAttribute = Element.prototype.setAttribute
Element.prototype.setAttribute = function set(name, value) {
  if (name === 'style' && this instanceof HTMLElement) this.style.cssText = value
  else setAttribute.call(this, name, value)
}

/** Runs `make`. Its `<style>` elements become adopted style sheets while they are in the page. */
export function withSheets(make: () => void): void {
  const create = document.createElement.bind(document)
  const value = (name: string, options?: ElementCreationOptions) =>
    name === 'style' ? sheetHolder(create('template')) : create(name, options)
  Object.defineProperty(document, 'createElement', { value, configurable: true })
  try {
    make()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
}

/** Adds a style sheet to the page. Returns a function that removes it. */
export function addSheet(sheet: CSSStyleSheet): () => void {
  document.adoptedStyleSheets.push(sheet)
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
  }
}

/** A stand-in for a `<style>` element; it renders nothing. */
function sheetHolder(holder: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  const remove = addSheet(sheet)
  Object.defineProperties(holder, {
    textContent: { get: () => '', set: (css: string) => sheet.replaceSync(css) },
    remove: {
      value() {
        remove()
        Element.prototype.remove.call(holder)
      },
    },
  })
  return holder
}
