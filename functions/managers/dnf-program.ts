import { DNF_SELECTION } from './dnf-selection.ts'

/*
 * The program that makes dnf 4 work for this service. dnf 4 is written in Python, so the program is dnf itself with two
 * methods replaced: it reads the configuration, the plugins, the excludes and the package lists as `dnf` does, and every
 * answer is about the transaction that dnf has resolved. It runs in the Python that dnf names in its first line, from
 * 3.6 on, and has no backslash, because it stands in other texts. The host helper contains this text: any change of it,
 * even of a comment, needs a new `HELPER_VERSION`.
 */

/**
 * `DNF_PROGRAM <verb> <word>…`: `refresh`, `changes ONLY REMOVALS KIND NAME…`, `left` and `verify` print the lines of
 * manager.ts; `run HASH ONLY REMOVALS KIND NAME…` and `upgrade` print what dnf prints. Each exits with 200, as dnf does,
 * when another process has a lock; a run exits with the codes of a plan.
 */
export const DNF_PROGRAM = `import fcntl, hashlib, os, re, select, sys, time
import dnf, dnf.callback, dnf.cli.cli, dnf.exceptions, dnf.i18n, dnf.lock, dnf.repo, dnf.selector, hawkey, rpm

TAB, END = chr(9), chr(10)
WORD = re.compile("[A-Za-z0-9_.@+~^:%{}-]{1,250}")
NAME = re.compile("[A-Za-z0-9_.@+~-]{1,200}")

def clean(field):
  text = " ".join(str(field).split())[:300]
  return "".join(each if each.isprintable() else "?" for each in text) or "-"

def say(*fields):
  os.write(told, (TAB.join(map(clean, fields)) + END).encode("utf-8", "replace"))

def local(url):
  return str(url).startswith("file:")

# A key that a repository names is trusted by itself only where it is a file of the system.
class Keys(dnf.callback.KeyImport):
  def _confirm(self, *key):
    return local(key[3] if len(key) > 3 else getattr(key[0], "url", ""))

class Differs(dnf.exceptions.Error):
  pass

class Base(dnf.cli.cli.BaseCli):
  plan = agreed = None
  bound = False

  # After the download, before a key is imported and before rpm is asked anything.
  def gpgsigcheck(self, pkgs):
    if self.bound and self.agreed is None:
      agree(self)
    keys = [key for pkg in pkgs for key in self.repos[pkg.repoid].gpgkey]
    self.conf.assumeyes = self.yes or all(map(local, keys))
    super(Base, self).gpgsigcheck(pkgs)

  # The last call before rpm changes packages: its own list of elements must be the one that was agreed to.
  def _run_transaction(self, cb):
    if self.bound and (self.agreed is None or self.agreed != elements(self._ts)):
      raise dnf.exceptions.Error("rpm is about to change other packages than dnf")
    if rpm_locked():
      raise dnf.exceptions.Error("another process has the database of rpm")
    return super(Base, self)._run_transaction(cb)

def nevra(name, epoch, version, release, arch):
  return "%s-%s:%s-%s.%s" % (name, epoch or 0, version, release, arch)

def elements(ts):
  signs = {rpm.TR_ADDED: "+", rpm.TR_REMOVED: "-"}
  return sorted(signs.get(te.Type(), "?") + nevra(te.N(), te.E(), te.V(), te.R(), te.A()) for te in ts)

def rpm_locked():
  try:
    with open(rpm.expandMacro("%{?_rpmlock_path}") or "/var/lib/rpm/.rpm.lock", "r+") as lock:
      fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
  except BlockingIOError:
    return True
  except OSError:
    pass
  return False

def open_base(keep):
  base = Base()
  conf = base.conf
  conf.exit_on_lock, conf.best, conf.color = True, False, "never"
  if quiet:
    conf.debuglevel = conf.errorlevel = 0
  if keep:
    conf.obsoletes, conf.installonly_limit = False, 0
  cli = dnf.cli.cli.Cli(base)
  cli._read_conf_file()
  base.yes = conf.assumeyes
  base.init_plugins(cli=cli)
  base.pre_configure_plugins()
  base.read_all_repos()
  base.configure_plugins()
  for repo in base.repos.iter_enabled():
    repo._set_key_import(Keys())
    repo._repo.setSyncStrategy(dnf.repo.SYNC_ONLY_CACHE)
    repo.skip_if_unavailable = True
  return base

def fetch(repo, pipe):
  message = "the process that refreshes it has ended"
  try:
    repo._repo.setSyncStrategy(dnf.repo.SYNC_TRY_CACHE)
    repo._repo.expire()
    repo.load()
    message = ""
  except BaseException as error:
    message = clean(error)
  os.write(pipe, message.encode("utf-8", "replace"))
  os._exit(1 if message else 0)

def refresh():
  base = open_base(False)
  repos = sorted(base.repos.iter_enabled(), key=lambda repo: repo.id)
  lists, failed, waiting, running = 0, set(), repos[:200], {}
  until = time.time() + 45
  with dnf.lock.build_metadata_lock(base.conf.cachedir, True):
    for repo in waiting:
      addresses = list(repo.baseurl) or [repo.metalink or repo.mirrorlist or "-"]
      say("repository", repo.id, addresses[0])
      repo.timeout, repo.retries = 20, 1
    while waiting or running:
      while waiting and len(running) < 4:
        repo = waiting.pop(0)
        back, pipe = os.pipe()
        pid = os.fork()
        if pid == 0:
          os.close(back)
          fetch(repo, pipe)
        os.close(pipe)
        running[back] = (repo, pid)
      ready = select.select(list(running), [], [], max(0, until - time.time()))[0]
      for back in ready or list(running):
        repo, pid = running.pop(back)
        message = "no answer in time"
        if ready:
          message = os.read(back, 4000).decode("utf-8", "replace")
        else:
          os.kill(pid, 9)
        os.close(back)
        status = os.waitpid(pid, 0)[1]
        if status != 0:
          failed.add(repo.id)
          say("failed", 1, repo.id, message or "the refresh was interrupted")
  # Lists that were fetched may still be unreadable; dnf goes on without them.
  for repo in repos:
    repo._repo.setSyncStrategy(dnf.repo.SYNC_ONLY_CACHE)
  base.fill_sack(load_system_repo=False)
  for repo in repos:
    if repo.enabled:
      lists += 1
    elif repo.id not in failed:
      failed.add(repo.id)
      say("failed", 1, repo.id, "the package lists of this repository cannot be read")
  if len(repos) > 200:
    failed.add("-")
    say("crowded")
  say("lists", lists)
  return 1 if failed else 0

${DNF_SELECTION}
def verify():
  base = open_base(False)
  base.fill_sack(load_available_repos=False)
  several = set(base.sack.query().installed().filterm(provides=base.conf.installonlypkgs))
  seen = set()
  for pkg in base.sack.query().installed().duplicated():
    if pkg not in several and pkg.name != "gpg-pubkey" and pkg.name not in seen:
      seen.add(pkg.name)
      say("unfinished", pkg.name, "several versions are installed")
  return 0

def run(plan, *words):
  selection = selected(words)
  base = open_base(selection is not None and selection[1] == "keep")
  base.plan, base.bound = plan, True
  try:
    if selection is None:
      raise dnf.exceptions.Error("dnf does not take this selection")
    if rpm_locked():
      raise dnf.exceptions.ProcessLockError("another process has the database of rpm", 0)
    base.fill_sack()
    choose(base, *selection)
    if not base.transaction:
      agree(base)
    return transact(base)
  except Differs as error:
    print("Error: %s" % error, flush=True)
    return 65
  except dnf.exceptions.ProcessLockError:
    if base.agreed is None:
      return 200
    raise
  except Exception as error:
    if base.agreed is None:
      print("Error: %s" % clean(error), flush=True)
      return 75
    raise

def transact(base):
  base.args = ["upgrade"]
  base.conf.assumeyes, base.conf.assumeno = True, False
  base.output.setup_progress_callbacks()
  try:
    base.do_transaction()
  finally:
    base.close()
  return 0

def upgrade():
  base = open_base(False)
  if rpm_locked():
    raise dnf.exceptions.ProcessLockError("another process has the database of rpm", 0)
  base.fill_sack()
  base.upgrade_all()
  base.resolve()
  return transact(base)

VERBS = {"refresh": refresh, "changes": show, "left": left, "verify": verify, "run": run, "upgrade": upgrade}
verb, words = sys.argv[1], sys.argv[2:]
quiet = verb not in ("run", "upgrade")
told = os.dup(1)
if quiet:
  os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
else:
  dnf.i18n.setup_stdout()
try:
  code = VERBS[verb](*words)
except dnf.exceptions.ProcessLockError as error:
  code = 200
  if verb == "refresh":
    say("locked")
except Exception as error:
  code = 1
  if quiet:
    say("problem", error)
  else:
    print("Error: %s" % clean(error), flush=True)
if quiet:
  say("code", code)
sys.stdout.flush()
os._exit(code)
`
