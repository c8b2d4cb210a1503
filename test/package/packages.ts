/** What `run.sh` has built, by the name of its variable. */
function built(name: string): string {
  const path = process.env[name]
  if (!path) throw new Error(`${name} is not set: the suite is started by npm run test:package`)
  return path
}

/** The package of these sources. */
export const DEB = built('TEST_DEB')
/** The same, built once more in another folder. */
export const AGAIN = built('TEST_DEB_AGAIN')
/** An older one, version 0.0.1, whose configuration file has a line more. */
export const BEFORE = built('TEST_DEB_BEFORE')
