// Package system says what of the machine every box can read, whatever confines
// it: the programs, and what they need to run.
package system

// Paths are the parts of the machine that every box can read, as far as they
// exist: programs and what they need, and no settings that may hold secrets.
var Paths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
	"/etc/alternatives", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/fonts", "/etc/gai.conf", "/etc/group", "/etc/host.conf",
	"/etc/hosts", "/etc/java", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types",
	"/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/perl", "/etc/pki", "/etc/protocols", "/etc/python3", "/etc/resolv.conf",
	"/etc/services", "/etc/ssl", "/etc/timezone",
}
