/** Adds a style sheet that the first load does not contain. The policy of the page allows constructed sheets alone. */
export function addLaterStyle(css: string): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets.push(sheet)
}
