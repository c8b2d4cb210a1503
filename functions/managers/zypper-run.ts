/*
 * A run of zypper that makes a plan or nothing. The host helper contains this text: any change of it, even of a comment,
 * needs a new `HELPER_VERSION`.
 *
 * zypper takes no answer to its question without a terminal, and its plugins cannot refuse. It shows each transaction
 * before it downloads anything, though, and libzypp changes packages by the program rpm alone, which it looks for in
 * `PATH` (with `ZYPP_SINGLE_RPMTRANS=0`; its other way is a program of its own). So an rpm of this run comes first in
 * `PATH`: the first change waits there until the summary of this very transaction has been compared with the plan.
 */

export const ZYPPER_RUN = `
# zypper_gate: an rpm before the system's own. The first change of a transaction asks it, after all downloads; it waits
# for the comparison of the summary that this transaction has shown, and refuses what has not agreed.
zypper_gate() {
  mkdir gate && printf '%s\\n' "$PATH" >path && cat >"$work/gate/rpm" <<'END_OF_GATE'
#!/bin/sh
gate=\${0%/*}
work=\${gate%/*}
PATH=$(cat "$work/path")
export PATH
for word; do
  case $word in
    --) break ;;
    -U* | -i* | -e* | -F* | --upgrade | --install | --erase | --freshen | --reinstall | --restore)
      : >"$work/asked"
      waited=0
      until [ -e "$work/verdict" ] || [ "$waited" -ge 60 ]; do
        sleep 1
        waited=$((waited + 1))
      done
      [ "$(cat "$work/verdict" 2>/dev/null)" = agreed ] && break
      echo 'ops-panel-plan: this is not what was planned, so rpm changes nothing.' >&2
      exit 1
      ;;
  esac
done
[ "$1" != ops-panel-gate ] || exit 9
exec rpm "$@"
END_OF_GATE
  chmod 700 "$work/gate/rpm" && "$work/gate/rpm" ops-panel-gate 2>/dev/null
  [ "$?" = 9 ]
}
# zypper_line TEXT: prints it without entities and control characters
zypper_line() {
  line_text=$1
  case $line_text in
    *'&'*) line_text=$(printf '%s' "$line_text" | sed -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&quot;/"/g' -e "s/&apos;/'/g" -e 's/&amp;/\\&/g') ;;
  esac
  case $line_text in
    *[[:cntrl:]]*) line_text=$(printf '%s' "$line_text" | tr '[:cntrl:]' ' ') ;;
  esac
  printf '%s\\n' "$line_text"
}
# zypper_told: prints what zypper tells as XML, as it comes; compares each summary with $hash where there is one
zypper_told() {
  inside=
  while IFS= read -r line || [ -n "$line" ]; do
    line=\${line#'<fileconflict-summary>'}
    case $inside:$line in
      :'<install-summary '*)
        inside=summary
        exec 4>summary
        printf '%s\\n' "$line" >&4
        ;;
      summary:*)
        printf '%s\\n' "$line" >&4
        [ "$line" = '</install-summary>' ] || continue
        inside=
        exec 4>&-
        zypper_changed <summary >found
        awk -F '\\t' '$1 == "change" { printf "%s %s.%s %s -> %s\\n", $2, $3, $4, $5, $6 }' found
        [ -n "$hash" ] || continue
        plan_lines <found >planned
        verdict=refused
        ! agrees <planned || verdict=agreed
        printf '%s\\n' "$verdict" >told
        mv -f told verdict
        [ "$verdict" = agreed ] || kill "$(cat pid)" 2>/dev/null
        ;;
      :'<message type="'*)
        text=\${line#*>}
        case $line in
          '<message type="error">'*) text="Error: $text" ;;
          '<message type="warning">'*) text="Warning: $text" ;;
        esac
        case $text in
          *'</message>'*) text=\${text%%'</message>'*} ;;
          *) inside=message ;;
        esac
        zypper_line "$text"
        # Its other way to change packages asks no rpm, and so nobody.
        case $hash:$text in ?*:'Backend:'*single_rpmtrans*) kill "$(cat pid)" 2>/dev/null ;; esac
        ;;
      message:*)
        case $line in *'</message>'*) inside= ;; esac
        zypper_line "\${line%%'</message>'*}"
        ;;
      :'<prompt '*) inside=prompt ;;
      prompt:'<text>'* | prompt:'<description>'*)
        text=\${line#*>}
        text=\${text%%'</'*}
        [ "$text" = 'Continue?' ] || zypper_line "$text"
        ;;
      prompt:'</prompt>'*) inside= ;;
      prompt:*) ;;
      :'<progress '*' done="'[01]'"/>')
        text=\${line#*' name="'}
        text=\${text%%'"'*}
        case $line in *' done="0"/>') text="Error: $text" ;; esac
        zypper_line "$text"
        ;;
      :'<'* | :) ;;
      *) zypper_line "$line" ;;
    esac
  done
}
# zypper_does: makes the transaction, and prints what happens; its exit code
zypper_does() {
  rm -f code
  {
    cd /
    \${sudo:-} zypper -x -n --no-refresh $verb </dev/null 2>&1 &
    echo "$!" >"$work/pid"
    wait "$!" 2>/dev/null
    echo "$?" >"$work/code"
  } | zypper_told
  code=$(cat code 2>/dev/null)
  return "\${code:-143}"
}
# zypper_installed: every installed package with its edition, as zypper writes it
zypper_installed() {
  rpm -qa --qf '%{NAME} %|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE}\\n' </dev/null 2>/dev/null | grep -v '^gpg-pubkey ' | sed 's/ 0:/ /' | sort
}
zypper_auto=/var/lib/zypp/AutoInstalled
# zypper_marks: libzypp takes a locked package for one that the user wants, and writes that before it downloads anything.
# Gives back the marks of automatic packages that are installed, and all of them where nothing has changed.
zypper_marks() {
  [ -s marks ] || return
  tries=0
  while [ "$tries" -lt 30 ] && other=$(cat /run/zypp.pid 2>/dev/null) && [ -n "$other" ] && [ -s "/proc/$other/cmdline" ]; do
    sleep 1
    tries=$((tries + 1))
  done
  if cmp -s before after; then
    cat marks >given || return
  else
    cut -d ' ' -f 1 after | cat >there || return
    grep -x -F -f there marks | grep -v -x -F -f "$zypper_auto" | cat "$zypper_auto" - >given || return
  fi
  # The times in their comments differ.
  grep -v '^#' given | sort | cat >wanted || return
  grep -v '^#' "$zypper_auto" | sort | cmp -s - wanted || {
    cp -p "$zypper_auto" "$zypper_auto.new" && cat given >"$zypper_auto.new" && mv -f "$zypper_auto.new" "$zypper_auto"
  }
}
zypper_run() (
  if [ -n "\${sudo:-}" ]; then
    echo 'A plan of zypper can only be run as root.'
    exit 75
  fi
  zypper_begin && zypper_gate || {
    echo 'There is no folder where a program may run, so zypper cannot be bound to the plan.'
    exit 75
  }
  zypper_end=$(($(date +%s) + 86400)) patient=120
  zypper_choose "$@"
  code=$?
  if [ "$code" != 0 ]; then
    [ "$code" != 200 ] || echo 'zypper cannot make this selection.'
    zypper_problems | cut -f 2
    exit 75
  fi
  # Usually a difference shows here, before anything is downloaded.
  plan_lines <changes | agrees >first || {
    cat first
    exit 65
  }
  zypper_installed >before
  [ ! -e "$zypper_auto" ] || cat "$zypper_auto" >marks || exit 75
  export ZYPP_SINGLE_RPMTRANS=0 PATH="$work/gate:$PATH"
  zypper_does
  code=$?
  PATH=$(cat path)
  zypper_installed >after
  zypper_marks
  verdict=$(cat verdict 2>/dev/null)
  if cmp -s before after; then
    [ "$verdict" != refused ] || exit 65
    [ "$verdict" = agreed ] && [ -e asked ] || exit 75
  elif [ "$verdict" != agreed ] || [ ! -e asked ]; then
    echo 'zypper has changed packages without the comparison with the plan.'
    exit 70
  fi
  case $code in
    0 | 102 | 103 | 106) ;;
    *) exit "$code" ;;
  esac
  awk '{ name = $2; sub(/:[^:]*$/, "", name); if ($3 != $4) { if ($3 != "-") print "-", name, $3; if ($4 != "-") print "+", name, $4 } }' planned | sort >expected
  { comm -23 before after | sed 's/^/- /'; comm -13 before after | sed 's/^/+ /'; } | sort >made
  if ! cmp -s expected made; then
    echo 'The installed packages are not those of the plan:'
    { comm -23 expected made | sed 's/^/missing: /'; comm -13 expected made | sed 's/^/not planned: /'; } | head -n 200
    exit 70
  fi
  [ "$code" != 102 ] || echo 'zypper asks for a reboot.'
)
zypper_upgrade() (
  zypper_begin || exit 1
  hash=
  : >notes
  zypper_verb
  zypper_call 120 60 -x -n --no-refresh locks
  zypper_does
  code=$?
  case $code in
    102) echo 'zypper asks for a reboot.' ;;
    0 | 103 | 106) ;;
    *) exit "$code" ;;
  esac
)
`
