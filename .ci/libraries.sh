# shellcheck shell=bash
# Functions that find the libraries and parts of a program, for any architecture. To be sourced.
#
# ROOT is the root of .ci/sysroot.sh that the program was linked against; "": this machine.

# machine_of PROGRAM: its architecture by Debian's name, amd64 or arm64.
machine_of() {
  case $(LC_ALL=C readelf -h "$1" | sed -nE 's/^ *Machine: *//p') in
    *X86-64) echo amd64 ;;
    AArch64) echo arm64 ;;
    *) echo "libraries.sh: $1 is for an unknown machine" >&2; return 1 ;;
  esac
}

# binutil PROGRAM NAME: strip or objcopy for its architecture.
binutil() {
  case $(machine_of "$1")-$(uname -m) in
    amd64-x86_64 | arm64-aarch64) echo "$2" ;;
    amd64-*) echo "x86_64-linux-gnu-$2" ;;
    *) echo "aarch64-linux-gnu-$2" ;;
  esac
}

# libraries_of PROGRAM ROOT: the paths, below ROOT, of the libraries that it loads, and of the
# loader. Does not use ldd, which runs the loader and so needs the same architecture.
libraries_of() {
  local root=$2 triplet=x86_64-linux-gnu files=("$1") seen=' ' name path i
  [ "$(machine_of "$1")" = amd64 ] || triplet=aarch64-linux-gnu
  LC_ALL=C readelf -l "$1" | sed -nE 's/.*program interpreter: (.*)\]$/\1/p'
  for ((i = 0; i < ${#files[@]}; ++i)); do
    while read -r name; do
      [[ $seen != *" $name "* && $name != ld-linux-* ]] || continue
      seen+="$name "
      for path in "/usr/lib/$triplet/$name" "/lib/$triplet/$name" "/usr/lib/$name"; do
        [ ! -e "$root$path" ] || break
      done
      [ -e "$root$path" ] || { echo "libraries.sh: $name is not in '$root'" >&2; return 1; }
      echo "$path"
      files+=("$root$path")
    done < <(LC_ALL=C readelf -d "${files[i]}" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p')
  done
}

# owners_of ROOT: the names of the packages that own the files on standard input (paths below ROOT).
# dpkg knows a file by its path in the package, which may be from before the merge of /usr.
# shellcheck disable=SC2062 # the lists are not a pattern
owners_of() {
  local root=$1 files
  mapfile -t files
  {
    printf '%s\n' "${files[@]}"
    printf '%s\n' "${files[@]/#/$root}" | xargs realpath -m | sed "s|^$root||"
  } | sed -E 'p; s|^/usr/|/|' | sort -u |
    { LC_ALL=C grep -lFx --file=- "$root"/var/lib/dpkg/info/*.list || true; } |
    sed -E 's|.*/||; s/(:[a-z0-9]+)?\.list$//' | sort -u
}

# compiled_in BUILD TARGET ROOT: the packages whose headers or static libraries are in a program:
# those whose files the compiler and the linker read.
compiled_in() {
  local build=$1 target=$2 root=$3
  {
    ninja -C "$build" -t inputs "$target" | grep -E '^/.*\.a$' || true
    ninja -C "$build" -t inputs "$target" | grep -E '\.(o|gch)$' |
      xargs ninja -C "$build" -t deps | sed -nE 's/^ +(\/.*)$/\1/p'
  } | sort -u | sed -nE "s#^$root(/(usr|lib)/)#\1#p" | owners_of "$root"
}
