/** What a test has started is closed when it ends. */
export async function closedAtEnd<started extends { close(): Promise<void> }>(
  starting: Promise<started>,
): Promise<started> {
  // Here, so that what is no test can start one as well.
  const { onTestFinished } = await import('vitest')
  const started = await starting
  onTestFinished(() => started.close())
  return started
}
