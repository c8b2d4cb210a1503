/** Returns the path of a package that `run.sh` has built, from its variable. */
function built(name: string): string {
  const path = process.env[name]
  if (!path) throw new Error(`${name} is not set: the suite is started by npm run test:package`)
  return path
}

/** The package built from these sources. */
export const DEB = built('TEST_DEB')
/** The same package, built in another folder. */
export const REBUILT_DEB = built('TEST_DEB_AGAIN')
/** An older package, version 0.0.1, whose configuration file has an additional line. */
export const OLDER_DEB = built('TEST_DEB_BEFORE')
