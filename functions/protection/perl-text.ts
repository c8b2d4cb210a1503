/** The line that ends a text within a program. */
const END = 'OPS_PANEL_TEXT'

/**
 * Returns the Perl statement that sets a variable to a text, as it is. Throws a RangeError for a text that does not end
 * with a line end, for one with the line that would end it early, and for one with a carriage return, which Perl may
 * leave out.
 */
export function perlText(variable: string, text: string): string {
  if (!text.endsWith('\n') || text.includes('\r') || `\n${text}`.includes(`\n${END}\n`))
    throw new RangeError(`this text cannot be the variable ${variable}`)
  return `my $${variable} = <<'${END}';\n${text}${END}\n`
}
