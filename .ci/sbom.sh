#!/usr/bin/env bash
# Prints the parts of a program with their licences, as SPDX 2.3 in JSON:
#
#   bash .ci/sbom.sh BUILD TARGET VERSION [ROOT]
#
# BUILD is the build folder, and TARGET a program that was built there (kubectl-quota). ROOT is the
# root of .ci/sysroot.sh that it was linked against. The parts are Debian packages: those whose
# libraries it loads, and those whose headers or static libraries the compiler and the linker read.
# SOURCE_DATE_EPOCH is the creation time in the document.
set -euo pipefail
[ $# -ge 3 ] || { sed -nE '2,/^set /s/^# ?//p' "$0" >&2; exit 2; }
build=$1 target=$2 version=$3 root=${4:-}
# shellcheck source=.ci/libraries.sh
. "$(dirname "$0")/libraries.sh"

program=$build/bin/$target
arch=$(machine_of "$program")
loaded=$(libraries_of "$program" "$root" | owners_of "$root")
compiled=$(compiled_in "$build" "$target" "$root")
packages=$(printf '%s\n' "$loaded" "$compiled" | sort -u)
time=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)
sum=$(sha256sum "$program" | cut -d' ' -f1)

# SPDX identifiers may not contain a plus sign.
id() { tr -c 'A-Za-z0-9.\n-' - <<<"SPDXRef-$1"; }
license() { tr -c 'A-Za-z0-9.\n-' - <<<"LicenseRef-$1"; }
quoted() { sed -e 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/\r//g' | tr -d '\000-\010\013-\037' |
  awk '{ printf "%s\\n", $0 }'; }
field() { dpkg-query --admindir="$root/var/lib/dpkg" -W -f="\${$1}\n" "$2" | head -n 1; }

cat <<END
{
"spdxVersion": "SPDX-2.3",
"dataLicense": "CC0-1.0",
"SPDXID": "SPDXRef-DOCUMENT",
"name": "$target-$version-linux-$arch",
"documentNamespace": "https://quota-controller-manager.io/spdx/$target-$version-linux-$arch-$sum",
"creationInfo": {"created": "$time", "creators": ["Tool: quota-controller-manager/.ci/sbom.sh"]},
"packages": [
{"SPDXID": "$(id "$target")", "name": "$target", "versionInfo": "$version",
 "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
 "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
 "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": "$sum"}]}
END
for package in $packages; do
  its_version=$(field Version "$package")
  purl="pkg:deb/debian/$package@${its_version//+/%2B}?arch=$(field Architecture "$package")"
  cat <<END
,{"SPDXID": "$(id "$package")", "name": "$package", "versionInfo": "$its_version",
 "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": false,
 "sourceInfo": "Debian source package $(field source:Package "$package")",
 "licenseConcluded": "NOASSERTION", "licenseDeclared": "$(license "$package")",
 "copyrightText": "NOASSERTION", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER",
  "referenceType": "purl", "referenceLocator": "$purl"}]}
END
done
echo '],'
echo '"hasExtractedLicensingInfos": ['
separator=''
for package in $packages; do
  printf '%s{"licenseId": "%s", "name": "the copyright file of Debian'\''s %s",\n' \
    "$separator" "$(license "$package")" "$package"
  printf ' "extractedText": "%s"}\n' "$(quoted <"$root/usr/share/doc/$package/copyright")"
  separator=,
done
echo '],'
echo '"relationships": ['
printf '{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", '
printf '"relatedSpdxElement": "%s"}\n' "$(id "$target")"
relate() { # TYPE PACKAGE…
  local type=$1 package
  shift
  for package in "$@"; do
    printf ',{"spdxElementId": "%s", "relationshipType": "%s", "relatedSpdxElement": "%s"}\n' \
      "$(id "$target")" "$type" "$(id "$package")"
  done
}
# shellcheck disable=SC2086 # names of packages
relate DYNAMIC_LINK $loaded
# shellcheck disable=SC2086
relate STATIC_LINK $compiled
echo ']}'
