/** Closes at the end of the test what it has started. */
export async function closedAtEnd<started extends { close(): Promise<void> }>(
  starting: Promise<started>,
): Promise<started> {
  // Imported here, so that other programs can use this file too.
  const { onTestFinished } = await import('vitest')
  const started = await starting
  onTestFinished(() => started.close())
  return started
}
