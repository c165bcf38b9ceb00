// Package e2e plays stories in the cockpit: the whole program behind it, a real
// browser in front of it, agents that are scripts. The stories are in
// stories/*.mjs and say what a person does and what they see; the tests set the
// stage for each.
//
// They need node, Debian's chromium and playwright-core (npm/install.sh); make deps
// installs all three, and typescript, which checks the types of the pages. With CONCLAVE_SHOTS=folder every story leaves pictures of
// what it has seen there; CONCLAVE_PROGRAM=file plays them on a program that is built
// already.
package e2e
