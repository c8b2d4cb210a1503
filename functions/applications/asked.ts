/*
 * Shell functions with which the looks at applications ask foreign programs. Their output may contain anything. The lines
 * that go on to the service have `|` between the fields of a line, and no other control character.
 */
export const ASKED = `
if timeout -k 5 60 true 2>/dev/null; then
  bounded() { timeout -k 5 "$@"; }
elif timeout 60 true 2>/dev/null; then
  bounded() { timeout "$@"; }
else
  bounded() { shift; "$@"; }
fi
# last_said FILE: the last line of a message, without credentials, control characters and separators
last_said() {
  [ ! -e "$1" ] || tail -c 4096 "$1" | tr -d '\\000' | tr '|[:cntrl:]' '/\\n' | grep -v '^ *$' | tail -n 1 |
    sed -e 's#://[^/@ ]*@#://#g' -e 's/^ *//' | cut -c 1-300
}
# problem NAME MESSAGE: what a look cannot tell, about one application, or about all of them with the name -
problem() { printf 'problem|%s|%s\\n' "$1" "\${2:-no reason was given}"; }
# in_work PREFIX: makes a folder for the files of this subshell, and removes it at its end
in_work() {
  work=$(mktemp -d "/tmp/ops-panel-$1-XXXXXXXX") && cd "$work" || return
  trap 'cd / && rm -rf "$work"' EXIT
  trap 'exit 143' HUP INT TERM
}
`
