/*
 * How a run tells whether a manager is about to do exactly its plan. The host helper contains these texts: any change of
 * them needs a new `HELPER_VERSION`.
 */

/** The exit codes of a run of a plan: EX_DATAERR, EX_SOFTWARE and EX_TEMPFAIL of sysexits(3). */
export const RUN_CODES = {
  /** The manager was about to do something else. Nothing was changed. */
  differs: 65,
  /** It has changed packages without the comparison. */
  unbound: 70,
  /** It has failed before it changed anything, for instance because a download failed. */
  notBegun: 75,
}
/** The lines around what a manager was about to do instead of a plan; each line between them has a leading space. */
export const DIFFERS_MARK = 'ops-panel-plan differs'
export const DIFFERS_END = 'ops-panel-plan end'

/** The line that tells that a manager is about to do exactly the plan. */
export function agreesLine(manager: string): string {
  return `ops-panel-plan: ${manager} does exactly what was planned.`
}

/**
 * Shell text that compares the lines of a plan's hash in `$found` with that hash, tells the result, and ends with `end` and
 * 0 or 1. `hash` and `manager` may be variables of the shell.
 */
export function comparison({ hash, manager, end }: { hash: string; manager: string; end: 'exit' | 'return' }): string {
  return `sum=$(if [ -n "$found" ]; then printf '%s\\n' "$found"; fi | sha256sum)
# What was printed before may have left its line without an end.
echo
if [ "\${sum%% *}" = "${hash}" ]; then
  echo "${agreesLine(manager)}"
  ${end} 0
fi
echo '${DIFFERS_MARK}'
if [ -n "$found" ]; then printf '%s\\n' "$found" | sed 's/^/ /'; fi
echo '${DIFFERS_END}'
${end} 1`
}
