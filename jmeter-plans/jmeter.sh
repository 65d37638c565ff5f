#!/bin/sh
# Starts JMeter with the JVM settings and the properties of the suite:
#   jmeter.sh -n -t closed-load.jmx -l samples.jtl -Jusers=30       a run (any option of JMeter's own)
#   jmeter.sh -s -Jserver_port=1099                                 a remote engine, until it is ended
#   jmeter.sh dashboards SAMPLES.JTL FOLDER [SAMPLES.JTL FOLDER]... JMeter's dashboards of many runs in one JVM
#   jmeter.sh -t closed-load.jmx                                    the GUI
# It becomes the JVM (exec), so the caller's process id is JMeter's. The effect of each flag: README.md.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
home=$here/target/apache-jmeter
archive=$here/target/classes.jsa

if ! [ -d "$home" ]; then
    echo "jmeter.sh: JMeter is not in $home; fetch it with: make setup" >&2
    exit 2
fi

start_jvm() {
    exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Djmeter.home="$home" \
        -cp "$home/bin/ApacheJMeter-5.6.3.jar:$home/lib/*:$home/lib/ext/*" "$@"
}

# A JVM that starts and warms up quickly, without collector or compiler threads next to the service under test.
start_headless_jvm() {
    if [ -f "$archive" ]; then
        set -- -XX:SharedArchiveFile="$archive" "$@"
    fi
    # JMETER_JVM_ARGS is split on purpose: more than one option may stand in it.
    # shellcheck disable=SC2086
    start_jvm -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xms1g -Xmx1g -Xmn600m -Djava.awt.headless=true \
        -Dlog4j2.disable.jmx=true ${JMETER_JVM_ARGS:-} "$@"
}

# Opens the packages that JMeter's own start script opens for the GUI's look and feel.
start_gui_jvm() {
    for package in java.desktop/sun.awt java.desktop/sun.awt.X11 java.desktop/sun.swing java.desktop/java.awt \
        java.desktop/java.awt.font java.desktop/javax.swing.text.html java.base/java.lang java.base/java.lang.reflect \
        java.base/java.util java.base/java.text; do
        set -- --add-opens="$package=ALL-UNNAMED" "$@"
    done
    start_jvm -Xms512m -Xmx1g "$@"
}

case " $* " in
" dashboards "*)
    shift
    start_headless_jvm -Dlog4j2.configurationFile="$here/log4j2.xml" -Djmeter.logfile=/dev/null \
        restbench.dashboards.Dashboards "$here/jtl.properties" "$@"
    ;;
*" -n "* | *" -g "* | *" -s "*)
    start_headless_jvm org.apache.jmeter.NewDriver \
        -d "$home" -p "$home/bin/jmeter.properties" -q "$here/jtl.properties" -i "$here/log4j2.xml" "$@"
    ;;
*)
    if [ "$(uname)" = Linux ] && [ -z "${DISPLAY:-}" ]; then
        echo "jmeter.sh: the JMeter GUI needs a display and DISPLAY is not set; without one use -n (see README.md)" >&2
        exit 2
    fi
    start_gui_jvm org.apache.jmeter.NewDriver \
        -d "$home" -p "$home/bin/jmeter.properties" -q "$here/jtl.properties" "$@"
    ;;
esac
