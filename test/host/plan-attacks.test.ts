import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { DIFFERS_END, DIFFERS_MARK } from '../../functions/managers/agreement.ts'
import {
  ACCOUNTS,
  codeOf,
  doneOf,
  EVERYTHING,
  hold,
  PLACES,
  type Plan,
  reached,
  release,
  startAttacks,
  stateOf,
} from './attacked-plans.ts'
import { replacePostinst } from './postinst.ts'
import { dpkgStatus, inside, rig } from './rig.ts'

let attacks: Awaited<ReturnType<typeof startAttacks>>

beforeAll(async () => {
  attacks = await startAttacks()
  return attacks.stop
})

test('a full disk stops a run before it changes anything', async () => {
  await attacks.everywhere(async (place, plans) => {
    const before = await stateOf(place)
    const plan = await plans.plan(place, EVERYTHING)
    await inside(place, FULL)
    const record = await plans.run(place, plan)
    const left = await inside(place, EMPTIED)
    return async () => {
      expect(left).toBe('filler')
      expect(doneOf(plan, before, await stateOf(place))).toBe('nothing')
      expect([place, record.status, record.exit_code]).not.toEqual([place, 'success', 0])
    }
  })
  await attacks.everywhere(async (place, plans) => {
    await rig('install', place, 'rig-big', '1.0')
    await rig('publish', place, 'rig-big', '2.0', 'big=2')
    await inside(place, '/usr/local/sbin/rig-state http on; apt-get update')
    const before = await stateOf(place)
    const plan = await plans.plan(place, EVERYTHING)
    await inside(place, 'mount -t tmpfs -o size=512k full /var/cache/apt/archives')
    const record = await plans.run(place, plan)
    await inside(place, 'umount /var/cache/apt/archives; /usr/local/sbin/rig-state http file')
    return async () => {
      expect(doneOf(plan, before, await stateOf(place))).toBe('nothing')
      expect([place, record.status, record.exit_code]).not.toEqual([place, 'success', 0])
      expect(record.output).toMatch(/space/)
    }
  })
})

/** Fills the folders for temporary files. */
const FULL = `for folder in /tmp /dev/shm; do
  [ ! -d "$folder" ] || { mount -t tmpfs -o size=16k,mode=1777 full $folder; dd if=/dev/zero of=$folder/filler bs=4k 2>/dev/null; }
done; true`
const EMPTIED = `ls -A /tmp /dev/shm 2>/dev/null | grep -v -e : -e '^$' | sort -u; for folder in /tmp /dev/shm; do
  ! mountpoint -q $folder || grep -q "^full $folder " /proc/mounts && umount $folder
done 2>/dev/null; true`

test('files and links of another user, and the environment of the service account, change nothing', async () => {
  await inside('host', HOSTILE_ACCOUNTS)
  await Promise.all(PLACES.map((place) => inside(place, PLANTED)))
  for (const turn of [0, 1, 2]) {
    await attacks.everywhere(async (place, plans) => {
      const before = await stateOf(place)
      const plan = await plans.plan(place, { ...EVERYTHING, exclude: ['rig-conf'] })
      const record = await plans.run(place, plan)
      return async () => {
        expect([codeOf(record), doneOf(plan, before, await stateOf(place))]).toEqual([0, 'everything'])
        expect(await inside(place, 'ls -A /var/tmp/planted-ran; cat /etc/rig/ran 2>/dev/null || true')).toBe('')
      }
    }, turn)
  }
  await Promise.all(
    PLACES.map((place) => inside(place, 'pkill -KILL -u bob; find /tmp /var/tmp -user bob -exec rm -rf {} +; true')),
  )
  await inside(
    'host',
    `for user in ${ACCOUNTS.join(' ')}; do rm -r /home/$user/evil; sed -i 1d /home/$user/.bashrc; done`,
  )
})

/**
 * The means of a user without rights: programs and files with the names that a run uses, links in their place, and a
 * program that writes into every file it may open.
 */
const PLANTED = String.raw`cat >/home/bob/planted <<'B'
umask 0; mkdir /var/tmp/planted-ran
for folder in /tmp /var/tmp; do
  cd $folder
  for name in sh perl apt apt-get apt-mark apt-config dpkg dpkg-query awk sed sort cat sha256sum sudo Fcntl.pm; do
    printf '#!/bin/sh\ntouch /var/tmp/planted-ran/%s\n' $name >$name
  done
  chmod 777 *
  for name in PREFERENCES preferences ops-panel-plan ops-panel-planned ops-panel-take apt.conf .aptrc; do
    printf 'Package: *\nPin: release *\nPin-Priority: -1\n' >$name
  done
  ln -s /etc/shadow PerlIO_000000; ln -s /etc/passwd pins; mkdir ops-panel-jobs-planted; ln -s / ops-panel-jobs-link
done
exec perl -e 'while (1) {
  for my $file (glob "/proc/[0-9]*/fd/* /tmp/* /var/tmp/* /var/tmp/*/*") {
    next if !-f $file || -o $file;
    open my $written, ">>", $file or next;
    syswrite $written, "Package: *\nPin: release *\nPin-Priority: -1\n";
    open my $told, ">", "/var/tmp/planted-ran/fed";
  }
  select undef, undef, undef, 0.005;
}'
B
mkdir /var/tmp/control && touch /var/tmp/control/file && chmod 666 /var/tmp/control/file
setsid su bob -s /bin/sh -c 'exec sh /home/bob/planted' </dev/null >/dev/null 2>&1 &
until [ -s /var/tmp/control/file ]; do sleep 0.01; done
rm -r /var/tmp/control /var/tmp/planted-ran/fed`

/**
 * An environment that the service accounts could set for themselves. An account that replaces its own sh, perl, cat or
 * sudo deceives the service, which is in its power: these programs start each job. The search path is hostile only for
 * accounts whose work sudo does with another path.
 */
const HOSTILE_ACCOUNTS = String.raw`cd /home
for user in ${ACCOUNTS.join(' ')}; do
  mkdir $user/evil
  printf 'if ($> == 0) { open my $f, ">>", "/etc/rig/ran"; print $f "perl\\n" } 1' >$user/evil/evil.pm
  printf '%s\n' 'APT::Update::Pre-Invoke { "echo update >>/etc/rig/ran"; };' 'DPkg::Pre-Invoke { "echo dpkg >>/etc/rig/ran"; };' \
    '#clear DPkg::Pre-Install-Pkgs;' 'Dir::Bin::dpkg "/home/ops/evil/dpkg";' >$user/evil/apt.conf
  for name in apt apt-get apt-mark apt-config dpkg dpkg-query awk sed sort sha256sum pct; do
    printf '#!/bin/sh\necho %s >>/etc/rig/ran\n' $name >$user/evil/$name
  done
  chmod 755 $user/evil/*
  path=; [ $user = ops ] || path=PATH=/home/$user/evil:/usr/bin:/bin
  sed -i "1i export APT_CONFIG=/home/$user/evil/apt.conf PERL5OPT=-Mevil PERL5LIB=/home/$user/evil TMPDIR=/home/$user/gone $path" $user/.bashrc
done`

/** The configuration of apt that somebody sets between a plan and its run, and what the run may then come to. */
interface Configuration {
  title: string
  /** A script that comes before the plan, and one that comes after it. */
  before?: string
  after?: string
  /** For each place, if they differ. */
  set: string | readonly string[]
  ends: readonly (readonly [code: number | string, done: string])[]
}

const OWN_HOOKS = `DPkg::Pre-Install-Pkgs { "cat >/dev/null"; };
#clear DPkg::Pre-Install-Pkgs;
DPkg::Pre-Install-Pkgs { "cat >/etc/rig/own"; "sh -c 'cat >/etc/rig/own-sh'"; };
DPkg::Tools::Options::sh::Version "1";
DPkg::Tools::Options::/usr/bin/env::Version "1";
Binary::apt-get::DPkg::Tools::Options::/usr/bin/env::Version "1";
APT::Get::AutomaticRemove "true";
APT::Get::Purge "true";`
const UNCHANGED = ['plan_changed', 'nothing'] as const
const EXACT = [0, 'everything'] as const

const CONFIGURATIONS: readonly Configuration[] = [
  { title: 'hooks and options of its own', before: 'apt-mark auto rig-old', set: OWN_HOOKS, ends: [EXACT] },
  {
    title: 'hooks and options of its own, and a newer version',
    after: '/usr/local/sbin/rig-state publish rig-fail 3.0; apt-get update',
    set: OWN_HOOKS,
    ends: [UNCHANGED],
  },
  {
    title: 'phased updates',
    before: '/usr/local/sbin/rig-state phased on; apt-get update',
    set: 'APT::Get::Always-Include-Phased-Updates "true";',
    ends: [UNCHANGED],
  },
  {
    // apt takes the recommended packages of an upgrade that are new in it, whatever is configured.
    title: 'no recommended packages',
    before: `cd /srv/rig/main && sed -i 's/^Package: rig-slow$/&\\nRecommends: rig-new/' Packages &&
      sed -i "s/^ .* Packages$/ $(sha256sum <Packages | cut -d' ' -f1) $(stat -c %s Packages) Packages/" Release && apt-get update`,
    set: 'APT::Install-Recommends "false";',
    ends: [EXACT],
  },
  {
    title: 'an end before any change',
    set: ['APT::Get::Simulate "true";', 'APT::Get::Download-Only "true";', 'APT::Get::Print-URIs "true";'],
    ends: [UNCHANGED],
  },
  {
    title: 'a hook of its own that fails',
    set: 'DPkg::Pre-Install-Pkgs { "false"; };',
    ends: [
      ['plan_not_begun', 'nothing'],
      [100, 'nothing'],
    ],
  },
  {
    title: 'another descriptor for what hooks read',
    set: 'DPkg::Tools::Options::/usr/bin/env::InfoFD "20";',
    ends: [EXACT],
  },
]

test.each(CONFIGURATIONS)('apt configured between plan and run: $title', async ({ before, after, set, ends }) => {
  await attacks.everywhere(async (place, plans) => {
    await inside(place, before ?? 'true')
    const plan = await plans.plan(place, {})
    await inside(place, after ?? 'true')
    const text = typeof set === 'string' ? set : set[PLACES.indexOf(place)]
    await inside(place, `cat >/etc/apt/apt.conf.d/zz-own <<'C'\n${text}\nC`)
    const was = await stateOf(place)
    const record = await plans.run(place, plan)
    return async () => {
      expect(ends).toContainEqual([codeOf(record), doneOf(plan, was, await stateOf(place))])
      expect(record.plan_difference !== null).toBe(record.error_code === 'plan_changed')
      if (set === OWN_HOOKS && after === undefined)
        // Each of them in the format that it asks for.
        expect(await inside(place, 'grep -c -v "[.]deb$" /etc/rig/own-sh; test -s /etc/rig/own')).toBe('0')
    }
  })
})

test('a removal keeps the configuration files, although apt is told to purge', async () => {
  await attacks.everywhere(async (place, plans) => {
    await rig('install', place, 'rig-driver', '1.0')
    await rig('publish', place, 'rig-driver', '2.0', 'conflicts=rig-conf')
    await rig('withdraw', place, 'rig-conf')
    await inside(place, 'apt-get update')
    const plan = await plans.plan(place, EVERYTHING)
    await inside(place, `echo 'APT::Get::Purge "true";' >/etc/apt/apt.conf.d/zz-own`)
    const before = await stateOf(place)
    const record = await plans.run(place, plan)
    return async () => {
      expect([codeOf(record), doneOf(plan, before, await stateOf(place))]).toEqual(EXACT)
      expect(await dpkgStatus(place, 'rig-conf')).toBe('deinstall ok config-files 1.0')
    }
  })
})

test('a package that prints the marks of the hook does not change the record', async () => {
  await attacks.everywhere(async (place, plans) => {
    const forged = [DIFFERS_MARK, ' upgrade rig-fail:all 1.0 9.0', DIFFERS_END, 'all of it is shown']
    await replacePostinst(place, `#!/bin/sh\nprintf '%s\\n' ${forged.map((line) => `'${line}'`).join(' ')}\n`)
    await inside(place, 'apt-get update')
    const before = await stateOf(place)
    const plan = await plans.plan(place, EVERYTHING)
    const record = await plans.run(place, plan)
    return async () => {
      expect([codeOf(record), doneOf(plan, before, await stateOf(place))]).toEqual(EXACT)
      expect(record.output).toContain(forged.join('\n'))
    }
  })
})

test('of several runs of one target at once, one does its plan and the others nothing', async () => {
  await attacks.everywhere(async (place, plans, account) => {
    const other = attacks.as[account === 'alice' ? 'narrow' : 'alice']
    const before = await stateOf(place)
    const all = [plans, other, plans]
    const made = await Promise.all(all.map((one) => one.plan(place, EVERYTHING)))
    const records = await Promise.all(all.map((one, at) => one.run(place, made[at] as Plan)))
    return async () => {
      expect(records.map(codeOf).sort()).toEqual([0, 'plan_changed', 'plan_changed'])
      expect(doneOf(made[0] as Plan, before, await stateOf(place))).toBe('everything')
    }
  })
})

test('a run waits for another apt, and sees what that has changed', async () => {
  await attacks.everywhere(async (place, plans) => {
    const before = await stateOf(place)
    const plan = await plans.plan(place, EVERYTHING)
    await hold(place, 'configuring')
    await inside(place, 'setsid apt-get -y install rig-slow </dev/null >/dev/null 2>&1 &')
    await reached(place)
    const job = await plans.start(place, plan)
    await pause(500)
    await release(place)
    const record = await plans.end(job)
    return async () => {
      const after = await stateOf(place)
      expect(record).toMatchObject({ error_code: 'plan_changed', plan_difference: [{ name: 'rig-slow:all' }] })
      expect(after.versions).toEqual(new Map([...before.versions, ['rig-slow', '2.0']]))
    }
  })
})
