/**
 * Makes a function that does the work, one run at a time. Something may have changed since a run began, so a call during it repeats the
 * work once more; the promise is that of the last run.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let again = false
  const run = async () => {
    do {
      again = false
      await work()
    } while (again)
  }
  return () => {
    again = running !== undefined
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}
