"""The version of the programs: semver.org. A release changes this line and CHANGELOG.md,
which a test holds together."""

VERSION = "0.1.0"
