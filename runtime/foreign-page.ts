/** Why a page is refused, as the log says it: an operator should look there when it is the panel's own. */
export class ForeignPage extends Error {
  override readonly name = 'ForeignPage'
  readonly origin: string

  constructor(origin: string) {
    super(
      'refused, the page is of another origin: see PANEL_ORIGINS, or have the proxy set X-Forwarded-Proto and pass Host on',
    )
    // As long as the longest name of a host, and whatever else is in an origin.
    this.origin = origin.slice(0, 300)
  }
}
