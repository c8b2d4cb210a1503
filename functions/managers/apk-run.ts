/*
 * The run of a plan by apk, and an upgrade without one, for apk.ts. The host helper contains this text: any change of
 * it, even of a comment, needs a new `HELPER_VERSION`.
 */

/**
 * With `--interactive`, apk prints the names of what it is about to change and asks whether to continue: it has then
 * solved, holds its lock, and has changed and downloaded nothing. While it waits, nobody else can change the packages or
 * the lists, so a simulation of the same selection tells the versions. Only if its names are those of the question, and
 * the whole is the plan, the answer is yes. The line before the question is the last one that apk ends.
 *
 * The pipe with the answer is open for writing in apk itself: apk 3 takes the end of its input for a yes. A guard ends
 * apk if the question does not come in time.
 */
export const APK_RUN = `
apk_state() { apk_database | awk '/^P:/ { name = substr($0, 3) } /^V:/ { print name " " substr($0, 3) }' | sort; }
# apk_asked: the names in the text before the question; a configuration of apk 3 may add the versions
apk_asked() {
  awk '/^The following (NEW )?packages will be / { on = 1; next } on && /^ / && $2 ~ /^\\(/ { sub(/@.*/, "", $1); print $1; next } on && /^ / { for (i = 1; i <= NF; i++) print $i; next } { on = 0 }' | sort -u
}
# apk_agrees: whether the question is about the plan
apk_agrees() {
  apk_answer=$(apk_simulated)
  apk_lines=$(printf '%s\\n' "$apk_answer" | apk_detailed)
  {
    printf '%s\\n' "$apk_lines"
    # An answer that is not whole, or that is about another question, agrees with no plan.
    [ "$(apk_asked <"$apk_folder/question")" = "$(apk_named 'upgrade downgrade install remove reinstall' | sort -u)" ] || printf 'change\\tunlike\\n'
printf '%s\\n' "$apk_answer" | awk -F '\\t' '$1 == "problem" || ($1 == "code" && $2 != 0) { print "change\\tfailed" }'
  } | plan_lines | agrees
}
# apk_expected: what is installed after the changes, from a state before them
apk_expected() {
  {
    printf '%s\\n' "$apk_lines" | awk -F '\\t' '$1 == "change" { print "change " $3 " " $6 }'
    printf '%s\\n' "$1"
  } | awk '$1 == "change" { to[$2] = $3; next } NF == 2 && !($1 in to) { print } END { for (name in to) if (to[name] != "-") print name " " to[name] }' | sort
}
apk_run() {
  apk_ready
  if ! apk_choose "$@"; then
    echo 'ops-panel-plan: apk cannot make this selection.'
    return 75
  fi
  if [ -n "$apk_none" ]; then
    : | agrees
    return 65
  fi
  apk_folder=$(mktemp -d) || return 75
  trap 'rm -rf "$apk_folder"' EXIT
  trap 'exit 143' HUP INT TERM
  mkfifo "$apk_folder/answer" "$apk_folder/said" && : >"$apk_folder/waiting" || return 75
  before=$(apk_state) stage=asking asked=0 code=75 end=\${apk_folder##*/}
  # A process that a script of a package leaves behind keeps the pipe open: the end is a line.
  {
    $sudo apk $apk_always --wait 120 --interactive upgrade --no-self-upgrade $apk_names <>"$apk_folder/answer" 2>&1 &
    printf '%s\\n' "$!" >"$apk_folder/process"
    wait "$!"
    printf '%s %s\\n' "$end" "$?"
  } >"$apk_folder/said" &
  {
    waited=0
    while [ -e "$apk_folder/waiting" ] && [ "$waited" -lt 300 ]; do
      sleep 1
      waited=$((waited + 1))
    done
    [ ! -e "$apk_folder/waiting" ] || kill "$(cat "$apk_folder/process")"
  } </dev/null >/dev/null 2>&1 &
  while IFS= read -r line || [ -n "$line" ]; do
    # BusyBox takes the square of the length of a line to look for a beginning that it has not.
    case $line in 'Do you want to continue [Y/n]? '*) line=\${line#'Do you want to continue [Y/n]? '} ;; esac
    case $line in
      *"$end "*)
        code=\${line##*"$end "}
        [ "$line" = "$end $code" ] || printf '%s\\n' "\${line%"$end $code"}"
        break
        ;;
    esac
    printf '%s\\n' "$line"
    [ "$stage" = asking ] || continue
    # Longer names, or more lines, are those of no plan.
    asked=$((asked + 1))
    [ "$asked" -gt 20000 ] || printf '%.1000s\\n' "$line" >>"$apk_folder/question"
    case $line in 'After this operation, '*) ;; *) continue ;; esac
    rm -f "$apk_folder/waiting"
    before=$(apk_state)
    if apk_agrees; then
      stage=agreed
      printf 'y\\n' 1<>"$apk_folder/answer"
    else
      stage=refused
      printf 'n\\n' 1<>"$apk_folder/answer"
    fi
  done <"$apk_folder/said"
  rm -f "$apk_folder/waiting"
  case $code in '' | *[!0-9]*) code=1 ;; esac
  after=$(apk_state)
  if [ "$stage" != agreed ]; then
    if [ "$before" != "$after" ]; then
      echo 'ops-panel-plan: apk has changed packages without asking.'
      return 70
    fi
    [ "$stage" = asking ] || return 65
    [ "$code" = 0 ] || return 75
    : | agrees
    return 65
  fi
  if [ "$code" != 0 ]; then
    case $code in 65 | 70 | 75) code=1 ;; esac
    return "$code"
  fi
  [ "$(apk_expected "$before")" != "$after" ] || return 0
  echo 'ops-panel-plan: apk ended, but other packages are installed than planned.'
  return 70
}
apk_upgrade() {
  apk_ready
  $sudo apk $apk_always --wait 120 upgrade </dev/null || {
    code=$?
    case $code in 65 | 70 | 75) code=1 ;; esac
    return "$code"
  }
}`
