# Sourced by rig.sh: an application from a community script, in a container. test/host/site.ts is the network that its script
# is loaded from.

applications_usage() {
  cat <<'U'
ID is 101, 102 or 103:
rig.sh app ID on ADDRESS              the application rig-app 1.0 in /opt, with a service on port 8080 beside those of `units`,
                                      and the command `update` of the community scripts, which runs what this address gives
rig.sh app ID off                     none of it
rig.sh app ID trust NAME PEM          trusts this certificate, and finds NAME at its own 127.0.0.1, until the container restarts
rig.sh app ID net                     the path of its network on this machine, for a server that stands for the internet
U
}

app() { # ID, verb, words
  case $2 in
    on)
      host pct exec "$1" -- sh -ec '
        /usr/local/sbin/rig-services units on
        mkdir -p /opt/rig-app
        echo 1.0 >/opt/rig-app/version
        echo 1.0 >/root/.rig-app
        printf "%s\n" "#!/bin/sh" "exec /usr/local/sbin/rig-listener 8080" >/opt/rig-app/rig-app
        chmod 755 /opt/rig-app/rig-app
        printf "%s\n" "[Unit]" "Description=Rig App" "[Service]" "ExecStart=/opt/rig-app/rig-app" >/etc/systemd/system/rig-app.service
        systemctl restart rig-app
        rm -f /usr/bin/update
        echo "bash -c \"\$(curl -fsSL $1)\"" >/usr/bin/update
        chmod 755 /usr/bin/update' app "$3"
      ;;
    off)
      host pct exec "$1" -- sh -ec '
        systemctl stop rig-app
        rm -rf /usr/bin/update /root/.rig-app /opt/rig-app /etc/systemd/system/rig-app.service /run/rig-units/rig-app
        /usr/local/sbin/rig-services units off'
      ;;
    trust)
      host pct exec "$1" -- sh -ec '
        mkdir -p /etc/ssl/certs
        echo "$2" >/etc/ssl/certs/ca-certificates.crt
        sed -i "/ $1\$/d" /etc/hosts
        echo "127.0.0.1 $1" >>/etc/hosts' trust "$3" "$4"
      ;;
    net)
      local pid one
      pid=$(holder) || die 'the host is not up'
      one=$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")
      echo "/proc/$one/root/proc/$(host lxc-info -n "$1" -p -H)/ns/net"
      ;;
    *) die 'app on, off, trust or net' ;;
  esac
}
