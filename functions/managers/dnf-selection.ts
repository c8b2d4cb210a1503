/*
 * The part of the program for dnf 4 that resolves a selection, tells its changes, and compares them with a plan. The host
 * helper contains this text: any change of it, even of a comment, needs a new `HELPER_VERSION`.
 */

export const DNF_SELECTION = `def mark(base, only, kind, names):
  if only == "security":
    if hasattr(base, "add_security_filters"):
      base.add_security_filters("gte", types=["security"])
    else:
      base._update_security_filters = [base.sack.query().filterm(advisory_type__eqg__gt=["security"])]
  if kind != "these":
    base.upgrade_all()
  for name in names if kind == "these" else []:
    try:
      base.upgrade(name.replace(":", "."))
    except dnf.exceptions.MarkingError:
      pass

def is_named(pkg, names):
  return pkg.name in names or "%s:%s" % (pkg.name, pkg.arch) in names

def same(one, other):
  return one.name == other.name and (one.arch == other.arch or "noarch" in (one.arch, other.arch))

def resolve(base, only, removals, kind, names, forced):
  base.reset(goal=True)
  mark(base, only, kind, names)
  for pkg in forced:
    selector = dnf.selector.Selector(base.sack)
    selector.set(pkg=[pkg])
    base._goal.install(select=selector)
  base.resolve(allow_erasing=removals == "remove")
  switched = dict(base._moduleContainer.getSwitchedStreams())
  if switched:
    raise dnf.exceptions.Error("the stream of a module would change: %s" % ", ".join(sorted(switched)))

# dnf removes nothing for an update that it may leave out. Those that it has left out are asked for by themselves: all
# together, or else one after another.
def force(base, only, removals, kind, names):
  new = base.transaction.install_set if base.transaction else ()
  done = set((pkg.name, pkg.arch) for pkg in new)
  query = base.sack.query().upgrades()
  if only == "security":
    query = query.filter(advisory_type__eqg__gt=["security"])
  wanted = [pkg for pkg in query.latest() if (pkg.name, pkg.arch) not in done]
  wanted = [pkg for pkg in sorted(wanted) if kind != "these" or is_named(pkg, names)]
  found, tries = [], [[pkg] for pkg in wanted[:30]]
  for more in ([wanted] if len(wanted) > 1 else []) + tries:
    try:
      resolve(base, only, removals, kind, names, found + more)
    except dnf.exceptions.Error:
      continue
    if more is wanted:
      return more
    found += more
  # The last try may have failed.
  resolve(base, only, removals, kind, names, found)
  return found

# Resolves a selection: base.transaction is what dnf will do. Without removals, a package that drives out another one
# is left out, until none is.
def choose(base, only, removals, kind, names):
  if kind == "without":
    left_out = [pkg for pkg in base.sack.query().available() if is_named(pkg, names)]
    base.sack.add_excludes(base.sack.query().filterm(pkg=left_out))
  forced = []
  for turn in range(40):
    resolve(base, only, removals, kind, names, forced)
    if removals == "remove" and not turn:
      forced = force(base, only, removals, kind, names)
      if forced:
        continue
    if base.transaction is None:
      return
    new = list(base.transaction.install_set)
    gone = [old for old in base.transaction.remove_set if not any(same(old, pkg) for pkg in new)]
    if removals == "remove":
      if kind != "without" or not any(is_named(old, names) for old in gone):
        return
      # A package that is left out must not be removed instead.
      base.conf.obsoletes, removals, forced = False, "keep", []
      continue
    if not gone:
      return
    by = [pkg for pkg in new if any(old in gone for old in base._goal.obsoleted_by_package(pkg))]
    if not by:
      break
    base.sack.add_excludes(base.sack.query().filterm(pkg=by))
  raise dnf.exceptions.Error("dnf finds no upgrade without removals")

def is_security(base, pkg, old):
  if any(one.type == hawkey.ADVISORY_SECURITY for one in pkg.get_advisories(hawkey.EQ)):
    return True
  for one in old.get_advisories(hawkey.GT) if old else []:
    if one.type != hawkey.ADVISORY_SECURITY:
      continue
    for fixed in one.packages:
      if (fixed.name, fixed.arch) == (pkg.name, pkg.arch) and base.sack.evr_cmp(fixed.evr, pkg.evr) <= 0:
        return True
  return False

def changes(base):
  if base.transaction is None:
    return []
  several = set(base.sack.query().filterm(provides=base.conf.installonlypkgs))
  old, found = {}, []
  for pkg in sorted(base.transaction.remove_set, reverse=True):
    old.setdefault(pkg.name, []).append(pkg)
  for pkg in sorted(base.transaction.install_set):
    before = [each for each in old.get(pkg.name, []) if same(each, pkg)] if pkg not in several else []
    before.sort(key=lambda each: each.arch != pkg.arch)
    action, known = "install", None
    if before:
      known = before[0]
      old[pkg.name].remove(known)
      order = base.sack.evr_cmp(pkg.evr, known.evr)
      action = "upgrade" if order > 0 else "downgrade" if order < 0 else "reinstall"
    found.append((action, pkg.name, pkg.arch, known.evr if known else "-", pkg.evr, pkg.reponame,
                      int(is_security(base, pkg, known)), pkg.downloadsize,
                      pkg.installsize - (known.installsize if known else 0), pkg.source_name or "-"))
  for each in sum(old.values(), []):
    found.append(("remove", each.name, each.arch, each.evr, "-", "-", 0, 0, -each.installsize,
                      each.source_name or "-"))
  return found

# The lines of a plan"s hash, and its comparison, as the other managers make them in the shell.
def agree(base):
  lines = set()
  for action, name, arch, before, after in (each[:5] for each in changes(base)):
    words = (action.replace("reinstall", "upgrade"), name + ":" + arch, before, after)
    lines.add(" ".join(words) if all(map(WORD.fullmatch, words)) else "unreadable - - -")
  lines = sorted(line.encode() for line in lines)
  text = b"".join(line + END.encode() for line in lines)
  sys.stdout.flush()
  if hashlib.sha256(text).hexdigest() == base.plan and b"unreadable - - -" not in lines:
    ts = base.transaction or ()
    base.agreed = sorted([nevra_of("+", pkg) for pkg in (ts and ts.install_set)] +
                             [nevra_of("-", pkg) for pkg in (ts and ts.remove_set)])
    print(END + "ops-panel-plan: dnf does exactly what was planned.", flush=True)
    return
  print(END + "ops-panel-plan differs")
  for line in lines:
    print(" " + line.decode())
  print("ops-panel-plan end", flush=True)
  raise Differs("dnf would do something else than the plan")

def nevra_of(sign, pkg):
  return sign + nevra(pkg.name, pkg.epoch, pkg.version, pkg.release, pkg.arch)

def selected(words):
  only, removals, kind = words[:3]
  names = words[3:]
  fits = only in ("all", "security") and removals in ("keep", "remove") and kind in ("every", "these", "without")
  if not fits or not all(NAME.fullmatch(part) for name in names for part in name.split(":", 1)):
    return None
  return only, removals, kind, names

def show(*words):
  selection = selected(words)
  if selection is None:
    say("unsupported")
    return 1
  base = open_base(selection[1] == "keep")
  base.fill_sack()
  choose(base, *selection)
  found = changes(base)
  for each in found[:10000]:
    say("change", *each)
  return 0 if len(found) <= 10000 else 1

def removing():
  back, pipe = os.pipe()
  pid = os.fork()
  if pid == 0:
    try:
      base = open_base(False)
      base.fill_sack()
      choose(base, "all", "remove", "every", [])
      with os.fdopen(pipe, "w", errors="replace") as out:
        for each in changes(base)[:10000]:
          out.write(TAB.join(map(clean, each)) + END)
    except BaseException:
      os._exit(1)
    os._exit(0)
  os.close(pipe)
  with os.fdopen(back, errors="replace") as text:
    found = [tuple(line.rstrip(END).split(TAB)) for line in text]
  return found if os.waitpid(pid, 0)[1] == 0 else []

# The installed packages that excludes and the plugin versionlock name.
def locks(base):
  names = list(base.conf.excludepkgs)
  for repo in base.repos.iter_enabled():
    names += repo.excludepkgs
  for folder in base.conf.pluginconfpath:
    try:
      with open(os.path.join(folder, "versionlock.list"), errors="replace") as lines:
        names += [line.strip() for line in lines if line.strip() and line[0] not in "#!"]
    except OSError:
      pass
  held, installed = set(), base.sack.query(flags=hawkey.IGNORE_EXCLUDES).installed()
  for name in names[:1000]:
    for form in "name__glob", "nevra__glob":
      held.update(pkg.name for pkg in installed.filter(**{form: name}))
  return held

def left():
  full = removing()
  base = open_base(True)
  base.fill_sack()
  every = base.sack.query(flags=hawkey.IGNORE_REGULAR_EXCLUDES).upgrades().latest().run()
  visible = set(map(str, base.sack.query().upgrades()))
  choose(base, "all", "keep", "every", [])
  done = set((each[1], each[2]) for each in changes(base))
  dropped = set((each[1], each[2]) for each in full)
  held = locks(base)
  for pkg in sorted(every)[:10000]:
    key = (pkg.name, pkg.arch)
    if key in done:
      continue
    done.add(key)
    old = base.sack.query(flags=hawkey.IGNORE_EXCLUDES).installed().filter(name=pkg.name)
    old = [each for each in old if same(each, pkg)]
    reason = "kept_back_remove" if key in dropped else "kept_back_dependencies"
    if str(pkg) not in visible:
      reason = "held"
      held.add(pkg.name)
    say("left", reason, pkg.name, pkg.arch, max(old).evr if old else "-", pkg.evr, pkg.reponame,
      int(is_security(base, pkg, max(old) if old else None)))
  for each in full:
    if (each[1], each[2]) not in done:
      say("left", "kept_back_remove", *each[1:7])
  for name in sorted(held):
    say("hold", name)
  return 0
`
