import { expect, test } from 'vitest'
import { FindingCode, findingOf } from '../../../functions/findings/finding.ts'
import { repositoryFindings } from '../../../functions/findings/repository-findings.ts'
import { conffileFindings, diskFindings } from '../../../functions/checks/system-findings.ts'
import { en } from '../../../panel/words/en.ts'
import { fr } from '../../../panel/words/fr.ts'

test('every finding has its few words in both languages, and an English sentence', () => {
  const told = { message: '', packages: [], repository: null }

  for (const code of FindingCode.options) {
    for (const { findings } of [fr, en]) expect(findings.short[code](2, null)).toMatch(/\S/)
    expect(en.findings.sentence({ code, ...told })).toMatch(/^([A-Z]|dpkg|apt).*\.$/)
  }
})

test('the English sentence has what the French one says: apt’s own words, files, and sizes', () => {
  const [away] = repositoryFindings(['W: Failed to fetch http://m/debian/dists/stable/InRelease  Could not connect'])
  const [file] = conffileFindings(['nginx-common /etc/nginx/nginx.conf', 'ssh /etc/ssh/sshd_config'])
  const [disk] = diskFindings(['/ 1000 1024 2000 a'], { download: 0, disk: 2_500_000_000 }, false)
  const english = [away, file, disk].map((finding) => finding && en.findings.sentence(finding))

  expect(english).toEqual([
    'Repository http://m/debian stable did not answer. apt says: Failed to fetch http://m/debian/dists/stable/InRelease Could not connect',
    'You changed /etc/nginx/nginx.conf, /etc/ssh/sshd_config: your version is kept, and the new one is put beside it (.dpkg-dist).',
    'Not enough space on /: the upgrade needs 2.5 GB, 1 MB are free.',
  ])
  expect(en.findings.sentence(findingOf('held', { packages: ['curl'] }))).not.toMatch(/curl|figés/)
})

test('the dashboard says of changed configuration files what the updates page says: they are kept', () => {
  expect(fr.dashboard.conffiles('web')).toMatch(/sur web.*garde les vôtres/)
  expect(en.dashboard.conffiles('web')).toMatch(/on web.*keeps yours/)
})
