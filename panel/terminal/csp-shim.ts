/**
 * xterm.js styles itself by `<style>` elements and `style` attributes, which the policy of this page refuses. Both are led to
 * what it allows: sheets made by script, and `element.style`.
 */
const setAttribute = Element.prototype.setAttribute
Element.prototype.setAttribute = function set(name, value) {
  if (name === 'style' && this instanceof HTMLElement) this.style.cssText = value
  else setAttribute.call(this, name, value)
}

/** Does `make`, whose `<style>` elements become sheets of the page for as long as they are in it. */
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

/** Adds a sheet to the page. Returns how to take it away again. */
export function addSheet(sheet: CSSStyleSheet): () => void {
  document.adoptedStyleSheets.push(sheet)
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
  }
}

/** In the place of a `<style>`: shows nothing itself. */
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
