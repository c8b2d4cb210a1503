import { describe, expect, test } from 'vitest'
import { zypperWith } from './zypper-stand-in.ts'

const REPOS = `<?xml version='1.0'?>
<stream>
<repo-list>
<repo alias="rig" name="rig" type="rpm-md" priority="99" enabled="1" autorefresh="1" gpgcheck="0" repo_gpgcheck="0" pkg_gpgcheck="0">
<url>file:/srv/rig/main</url>
</repo>
<repo alias="off" name="off" type="rpm-md" priority="99" enabled="0" autorefresh="1" gpgcheck="0">
<url>http://off.invalid/</url>
</repo>
<repo alias="signed" name="signed" type="rpm-md" priority="99" enabled="1" autorefresh="0" gpgcheck="1">
<url>https://user:secret@host.invalid/a&amp;b</url>
</repo>
</repo-list>
</stream>
`
const FRESH = `<?xml version='1.0'?>\n<stream>\n<message type="info">Specified repositories have been refreshed.</message>\n</stream>\n`
/** Recorded of zypper 1.14.42. */
const UNSIGNED = `<?xml version='1.0'?>
<stream>
<progress id="raw-refresh" name="Retrieving repository &apos;signed&apos; metadata" value="0"/>
<message type="warning">File &apos;repomd.xml&apos; from repository &apos;signed&apos; is unsigned.</message>
<prompt id="11">
<text>File &apos;repomd.xml&apos; from repository &apos;signed&apos; is unsigned, continue?</text>
<option value="yes" desc=""/>
<option default="1" value="no" desc=""/>
</prompt>
<progress id="raw-refresh" name="Retrieving repository &apos;signed&apos; metadata" done="0"/>
<message type="error">Repository &apos;signed&apos; is invalid.
[signed|file:/srv/rig/main] Valid metadata not found at specified URL
History:
 - Signature verification failed for repomd.xml
 - Can&apos;t provide /repodata/repomd.xml

Please check if the URIs defined for this repository are pointing to a valid repository.
</message>
<message type="error">Skipping repository &apos;signed&apos; because of the above error.</message>
<message type="error">Could not refresh the repositories because of errors.</message>
</stream>
`

describe('the refresh', () => {
  test('takes each enabled repository by itself, also one without autorefresh, and names the one that failed', async () => {
    const { ask, answer, file } = await zypperWith()
    await answer('repos', REPOS)
    await answer('refresh-rig', FRESH)
    await answer('refresh-signed', UNSIGNED, 4)

    const { lines } = await ask('zypper_refresh')

    expect(lines).toEqual([
      'repository\trig\tfile:/srv/rig/main',
      'repository\tsigned\thttps://host.invalid/a&b',
      "failed\t4\tsigned\tFile 'repomd.xml' from repository 'signed' is unsigned, continue? Repository 'signed' is invalid. [signed|file:/srv/rig/main] Valid metadata not found at specified URL History: - Signature verification failed for repomd.xml - Can't provide /repodata/repomd.xml",
      'lists\t1',
      'code\t4',
    ])
    expect(await file('calls')).toBe('-x -n repos\n-x -n refresh -- rig\n-x -n refresh -- signed\n')
  })

  test('expired metadata are a failure, although zypper ends with 0', async () => {
    const { ask, answer } = await zypperWith()
    await answer('repos', REPOS)
    await answer('refresh-rig', FRESH)
    const warning = `<message type="warning">Repository &apos;signed&apos; metadata expired since 2026-01-01.</message>`
    await answer('refresh-signed', FRESH.replace('<message', `${warning}\n<message`))

    const { lines } = await ask('zypper_refresh')

    expect(lines.slice(2)).toEqual([
      "failed\t0\tsigned\tRepository 'signed' metadata expired since 2026-01-01.",
      'lists\t2',
      'code\t1',
    ])
  })

  test('says that another process has the lock', async () => {
    const { ask, answer } = await zypperWith()
    await answer('repos', REPOS)
    await answer('refresh-rig', FRESH, 7)

    const { lines } = await ask(
      'date() { if [ -e "$FOLDER/late" ]; then echo 9999999; else echo 1; fi; }; sleep() { : >"$FOLDER/late"; }; zypper_refresh',
    )

    expect(lines.slice(2)).toEqual(['locked', 'lists\t0', 'code\t7'])
  })

  test('more repositories than are refreshed are not a whole refresh', async () => {
    const { ask, answer } = await zypperWith()
    const repositories = Array.from({ length: 250 }, (_, at) => `<repo alias="r${at}" name="r" enabled="1">\n</repo>`)
    await answer('repos', `<stream>\n${repositories.join('\n')}\n</stream>\n`)

    const { lines } = await ask(
      `zypper_call() { shift 2; case "$*" in *repos) cat "$FOLDER/answer.repos" >answer ;; *) echo '</stream>' >answer ;; esac; }; zypper_refresh`,
    )

    expect(lines).toHaveLength(203)
    expect(lines[0]).toBe('crowded')
    expect(lines.slice(-2)).toEqual(['lists\t200', 'code\t1'])
  }, 60_000)

  test.each([124, 137])(
    'a repository that does not answer is named, and nothing is said of its packages: %i',
    async (code) => {
      const { ask, answer } = await zypperWith()
      await answer('repos', REPOS)
      await answer('refresh-rig', '', code)
      await answer('refresh-signed', FRESH)
      await answer('list-updates', '', code)

      expect((await ask('zypper_refresh')).lines).toContain(`failed\t${code}\trig\ttimed out`)
      expect((await ask('zypper_changes all keep every')).lines).toEqual([
        'problem\tzypper did not answer in time. A repository whose lists were never read may not answer.',
        `code\t${code}`,
      ])
    },
  )

  test('no repository at all is not a refresh', async () => {
    const { ask, answer } = await zypperWith()
    await answer('repos', '<stream>\n</stream>\n', 6)

    expect((await ask('zypper_refresh')).lines).toEqual(['lists\t0', 'code\t6'])
  })
})
