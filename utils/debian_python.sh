#!/bin/sh
# usage: utils/debian_python.sh VERSION FOLDER [SUITE]
#
# Puts Debian's CPython VERSION (3.14) with its headers into FOLDER, from SUITE (default:
# sid), for `./dev wheel FOLDER/bin/pythonVERSION`. Nothing is installed: packages are
# unpacked, and the interpreter runs with the C library that it was built for. What is
# compiled for it uses that of this machine.
set -eu
[ $# -ge 2 ] || { sed -n 2p "$0" | sed 's/^# //' >&2; exit 2; }
version=$1 suite=${3:-sid} name=python$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$folder/root apt=$folder/apt
[ ! -e "$root" ] || { echo "$0: '$root' exists, expected a new folder" >&2; exit 2; }

mkdir -p "$root" "$apt/lists/partial" "$apt/cache/archives/partial"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
of_suite() {
  apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$apt/cache" \
    -o Debug::NoLocking=true -o APT::Sandbox::User=root "$@"
}
of_suite update
of_suite install --yes --no-install-recommends --download-only "$name-dev" "$name-venv" >/dev/null
for package in "$apt"/cache/archives/*.deb; do
  dpkg-deb --extract "$package" "$root"
done

mkdir -p "$folder/bin" "$folder/lib" "$folder/include"
cp -r "$root/usr/lib/$name" "$folder/lib/"
sed -i "s|'/usr/share/python-wheels|'$root/usr/share/python-wheels|" "$folder/lib/$name"/_sysconfigdata_*.py
# Headers of Python alone: those of its C library are not this machine's.
cp -r "$root/usr/include/$name" "$folder/include/"
cp "$root/usr/include/$(uname -m)-linux-gnu/$name/pyconfig.h" "$folder/include/$name/"
cat >"$folder/bin/$name" <<END
#!/bin/sh
libraries=$root/usr/lib/$(uname -m)-linux-gnu
for loader in "\$libraries"/ld-linux-*; do break; done
exec "\$loader" --library-path "\$libraries" --argv0 "\$0" "$root/usr/bin/$name" "\$@"
END
chmod +x "$folder/bin/$name"
rm -r "$apt"
"$folder/bin/$name" -c 'import ssl, sys, sysconfig; print(sys.executable, sys.version, sysconfig.get_path("include"))'
