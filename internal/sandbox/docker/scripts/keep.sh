# MARK: says who it is and whether there is a process that adopts orphans, and
# keeps the container running. Commands come by exec.
init=-
[ -x /sbin/docker-init ] && init=/sbin/docker-init
echo "$1 $$ $init"
exec sleep 2147483647
