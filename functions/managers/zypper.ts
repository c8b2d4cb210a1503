import { ZYPPER_ANSWERS } from './zypper-answers.ts'
import { ZYPPER_CHOICE } from './zypper-choice.ts'
import { ZYPPER_RUN } from './zypper-run.ts'

/*
 * zypper, by the shape of manager.ts. The host helper contains this text: any change of it, even of a comment, needs a new
 * `HELPER_VERSION`.
 */

export const ZYPPER = `${ZYPPER_ANSWERS}${ZYPPER_CHOICE}${ZYPPER_RUN}
zypper_refresh() (
  zypper_starts
  zypper_call 30 20 -x -n repos
  code=$?
  if [ "$code" != 0 ]; then
    [ "$code" != 7 ] || echo locked
    printf 'lists\\t0\\ncode\\t%s\\n' "$code"
    exit
  fi
  zypper_whole || { printf 'code\\t4\\n'; exit; }
  zypper_awk '
    /^repo / { id = attr("enabled") == "1" ? plain(attr("alias")) : ""; if (id != "" && count++ < 201) { print "repository", id, "-"; found = 1 } else found = 0; next }
    /^url>/ && found { address = body(); sub(/\\/\\/[^\\/@]*@/, "//", address); print "address", address; found = 0 }' <answer |
    awk -F '\\t' -v OFS='\\t' '$1 == "repository" { if (id != "") print "repository", id, address; id = $2; address = "-" }
      $1 == "address" { address = substr($2, 1, 300) } END { if (id != "") print "repository", id, address }' | cat >repos || { printf 'code\\t4\\n'; exit; }
  result=0 patience=30
  if [ "$(wc -l <repos)" -gt 200 ]; then
    echo crowded
    result=1
    sed 200q repos | cat >first && mv -f first repos
  fi
  cat repos
  : >fresh
  while IFS=$(printf '\\t') read -r word id address; do
    zypper_call "$patience" 40 -x -n refresh -- "$id"
    code=$?
    if [ "$code" = 7 ]; then
      echo locked
      result=7
      break
    fi
    patience=5
    [ "$code" != 0 ] || zypper_whole || code=4
    zypper_awk '/^message type="error">/ || /^(text|description)>/ || /^message type="warning">/ {
        text = body()
        sub(/ *(Skipping repository|Could not refresh|Some of the repositories have not been|Please (see|check)).*/, "", text)
        if (text == "") next
        if (/^message type="warning">/) { if (text ~ /(metadata expired|has expired|appears to be outdated)/) old = text }
        else if (!seen[text]++) all = all (all == "" ? "" : " ") text
      }
      END {
        if (code != 0 && all == "") all = code == 124 || code == 137 ? "timed out" : "failed"
        if (code == 0) all = old
        if (all != "") print substr(all, 1, 300)
      }' \\
      -v code="$code" <answer | cat >why || code=4
    if [ "$code" != 0 ] || [ -s why ]; then
      printf 'failed\\t%s\\t%s\\t%s\\n' "$code" "$id" "$(head -n 1 why | grep . || echo failed)"
      [ "$result" != 0 ] || result=$code
      [ "$result" != 0 ] || result=1
    fi
    [ "$code" != 0 ] || printf '%s\\n' "$id" >>fresh
  done <repos
  lists=0
  while IFS=$(printf '\\t') read -r word id address; do
    [ ! -s "/var/cache/zypp/solv/$(printf '%s' "$id" | tr / _)/solv" ] && ! grep -q -x -F -e "$id" fresh || lists=$((lists + 1))
  done <repos
  printf 'lists\\t%s\\ncode\\t%s\\n' "$lists" "$result"
)
zypper_changes() (
  zypper_starts
  zypper_choose "$@"
  code=$?
  case $code in
    0) cat changes ;;
    200)
      echo unsupported
      exit
      ;;
    201)
      printf 'problem\\tOnly root can make zypper leave packages out.\\n'
      code=0
      ;;
    7) printf 'problem\\tAnother process has the lock of zypper.\\n' ;;
    124 | 137) printf 'problem\\tzypper did not answer in time. A repository whose lists were never read may not answer.\\n' ;;
    *) zypper_problems ;;
  esac
  printf 'code\\t%s\\n' "$code"
)
zypper_left() (
  zypper_starts
  zypper_choose all keep every && zypper_locked
  code=$?
  if [ "$code" = 0 ]; then
    sed 's/^/hold\\t/' held | head -n 900
    zypper_awk '
      function left(name, arch, from, to, origin, reason) {
        if (!told[name, arch]++) print "left", reason, name, arch, from, to, origin, fixed(name, arch, from, to)
      }
      '"$zypper_read"'
      function take(line, word) {
        if (split(line, word, "\\t") > 5 && word[1] == "change") { if (!all) kept[word[3], word[4]]; else if (word[2] ~ /^(upgrade|install|remove)$/ && !((word[3], word[4]) in kept)) left(word[3], word[4], word[5], word[6], word[7], "kept_back_remove") }
        else if (split(line, word, " ") == 3 && word[1] == "fix") fix[word[2], ++fixes[word[2]]] = word[3]
        else if (word[1] == "known") { if (all) { if (!((word[2], word[3]) in kept) && word[4] != word[5]) left(word[2], word[3], word[5], word[4], word[6], word[2] in hold ? "held" : "kept_back_dependencies") } }
        else if (word[1] != "change" && word[1] != "total") hold[line]
      }
      BEGIN { read(notes); read(held); read(made); all = 1; read(full); read(notes) }' -v made=changes -v full=full -v held=held </dev/null
  fi
  printf 'code\\t%s\\n' "$code"
)
# zypper_locked: the names of installed packages that the locks of the target match, in $work/held
zypper_locked() {
  unset ZYPP_CONF
  zypper_asks locks --solvables || return
  zypper_whole || return 4
  zypper_awk '
    /^match / && attr("installed") == "true" && attr("kind") == "package" && attr("name") ~ /^[A-Za-z0-9_.@+~-]+$/ { print attr("name") }' <answer | sort -u | cat >held
}
zypper_verify() (
  zypper_starts
  if ! packages=$(limited "$(zypper_within 30)" rpm -qa --qf '%{NAME} %{ARCH}\\n' </dev/null 2>/dev/null); then
    printf 'code\\t1\\n'
    exit
  fi
  zypper_asks verify --no-recommends --dry-run
  code=$?
  if [ "$code" = 0 ]; then
    zypper_whole || code=4
    : >notes
    zypper_changed <answer | cat >changes || code=1
    ! grep -q -x 'change.unreadable' changes || code=1
  fi
  if [ "$code" = 4 ] || { [ "$code" = 0 ] && grep -q '^change' changes; }; then
    limited "$(zypper_within 30)" rpm -Va --nofiles --nodigest --nosignature --noscripts </dev/null 2>/dev/null | awk -v OFS='\\t' '
      { gsub(/[[:cntrl:]]+/, " ") }
      /^ *Unsatisfied dependencies for / { name = $4; sub(/:.*/, "", name); sub(/-[^-]*-[^-]*$/, "", name); rest = $0; sub(/^[^:]*: */, "", rest); if (rest != "") tell(name, rest); next }
      /is needed by/ { sub(/^ */, ""); tell(name, $0) }
      function tell(package, text) { if (package != "" && n++ < 500) print "broken", package, substr(text, 1, 300) }' >broken
    if [ -s broken ]; then
      cat broken
    elif [ "$code" = 0 ]; then
      zypper_names | head -n 500 | sed 's/.*/broken\\t&\\tzypper verify would change it/'
    else
      zypper_problems | sed 's/^problem/broken\\t-/' >broken
      cat broken
    fi
    [ "$code" != 4 ] || [ ! -s broken ] || code=0
  fi
  multiple=$(limited "$(zypper_within 20)" rpm -q --whatprovides 'multiversion(kernel)' --qf '%{NAME}\\n' </dev/null 2>/dev/null | sort -u)
  printf '%s\\n' "$packages" | sort | uniq -d | awk -v OFS='\\t' -v multiple="$multiple" '
    BEGIN { n = split(multiple, list, "\\n"); for (i = 1; i <= n; i++) many[list[i]] }
    $1 != "gpg-pubkey" && !($1 in many) && told++ < 400 { print "unfinished", $1, "installed in more than one version" }'
  printf 'code\\t%s\\n' "$code"
)
zypper_cache() {
  folder=$(sed -n 's/^[[:space:]]*packagesdir[[:space:]]*=[[:space:]]*//p' /etc/zypp/zypp.conf 2>/dev/null | tail -n 1)
  printf '%s\\n' "\${folder:-/var/cache/zypp/packages}"
}
zypper_security() {
  for file in /var/cache/zypp/raw/*/repodata/*updateinfo.xml*; do
    if [ -e "$file" ]; then echo told; return; fi
  done
  echo database
}
`
